"""Quotas of a ClusterQueue or a Cohort: resource groups, flavors and amounts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_kuberay.names import label_key_problems, object_name_problems
from pulumi_kuberay.quantities import amount_problems, quantity
from pulumi_kuberay.rendering import rendered

_MAX_GROUPS = 16
_MAX_IN_GROUP = 64
_MAX_TOTAL = 256
_MAX_COMBINATIONS = 512


@dataclass(kw_only=True)
class ResourceQuota:
    """How much of one resource one flavor offers."""

    name: str
    """Name of the resource: ``cpu``, ``memory``, ``pods``, ``nvidia.com/gpu``."""

    nominal_quota: pulumi.Input[str]
    """Amount that the queue has of its own, a quantity such as ``40`` or ``200Gi``, zero or more."""

    borrowing_limit: pulumi.Input[str] | None = None
    """Most that the queue may borrow from its cohort, a quantity. Only in a cohort. Default: no limit."""

    lending_limit: pulumi.Input[str] | None = None
    """Most that the queue lends to its cohort when it does not use it, a quantity. Only in a cohort; in a
    ClusterQueue at most the nominal quota. Default: all of it."""


@dataclass(kw_only=True)
class FlavorQuotas:
    """What one flavor offers of every resource of its group."""

    name: pulumi.Input[str]
    """Name of the ResourceFlavor."""

    resources: Sequence[ResourceQuota]
    """The quotas, one for each resource of the group, in any order."""


@dataclass(kw_only=True)
class ResourceGroup:
    """Resources that are always taken from the same flavor, and the flavors that offer them."""

    flavors: Sequence[FlavorQuotas]
    """Flavors in the order in which they are tried, 1 to 64."""

    covered_resources: Sequence[str] | None = None
    """Names of the resources, 1 to 64. Default: those of the first flavor."""


@dataclass(kw_only=True)
class FairSharing:
    """How much weight a queue has when unused quota is shared."""

    weight: str | None = None
    """Quantity; 0 puts it behind all others. Default: 1."""


def resource_groups(groups: Sequence[ResourceGroup]) -> list[dict[str, Any]]:
    """Return the groups as Kueue reads them: every flavor lists its resources in the order of the group."""
    return [_group(group) for group in groups]


def resource_group_problems(
    groups: Sequence[Mapping[str, Any]], parent: str, has_parent: bool, lends_own_only: bool
) -> Iterator[str]:
    """Say what Kueue 0.19 would refuse in rendered resource groups.

    Source: the schema of `clusterqueue_types.go` and `validateResourceGroups` of Kueue's webhooks.

    Args:
        groups: The groups as Kueue reads them.
        parent: What one borrows from, for the sentences: ``cohort_name`` or ``parent_name``.
        has_parent: Whether that is set.
        lends_own_only: Whether a lending limit may not exceed the nominal quota.
    """
    yield from _count_problems(groups)
    for kind, names in (
        ("resource", [name for group in groups for name in group["coveredResources"]]),
        ("flavor", [flavor["name"] for group in groups for flavor in group["flavors"]]),
    ):
        for name in _twice(names):
            yield f"The {kind} {name} is there twice; each {kind} belongs to one resource group, once."
    for group in groups:
        for name in group["coveredResources"]:
            yield from label_key_problems("The name of a resource", name)
        for flavor in group["flavors"]:
            yield from object_name_problems("The name of a flavor", flavor["name"])
            yield from _coverage_problems(flavor, group["coveredResources"])
            for resource in flavor["resources"]:
                named = f"{resource['name']} in the flavor {_shown(flavor['name'])}"
                yield from _amount_problems(named, resource, parent, has_parent, lends_own_only)


def weight_problems(fair_sharing: Mapping[str, Any] | None) -> Iterator[str]:
    """Say why a weight of fair sharing cannot be used: it is negative, or so small that it counts as 0."""
    weight = (fair_sharing or {}).get("weight")
    if weight is None:
        return
    yield from amount_problems("The weight of fair_sharing", weight)
    amount = quantity(weight)
    if amount is not None and 0 < amount <= (quantity("1n") or 0):
        yield f"The weight of fair_sharing must be 0 or above 1n, but it is {weight!r}."


def _group(group: ResourceGroup) -> dict[str, Any]:
    covered = group.covered_resources
    if covered is None:
        covered = [resource.name for resource in group.flavors[0].resources] if group.flavors else []
    order = {name: position for position, name in enumerate(covered)}
    flavors = [
        {
            "name": flavor.name,
            "resources": [
                rendered(resource)
                for resource in sorted(flavor.resources, key=lambda resource: order.get(resource.name, len(order)))
            ],
        }
        for flavor in group.flavors
    ]
    return {"coveredResources": list(covered), "flavors": flavors}


def _count_problems(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    counts = [("resource groups", len(groups), _MAX_GROUPS)]
    for kind, key in (("covered resources", "coveredResources"), ("flavors", "flavors")):
        for group in groups:
            if not group[key]:
                yield f"A resource group has no {kind}; name at least one."
            counts.append((f"{kind} in one resource group", len(group[key]), _MAX_IN_GROUP))
        counts.append((f"{kind} in all resource groups", sum(len(group[key]) for group in groups), _MAX_TOTAL))
    for group in groups:
        combinations = sum(len(flavor["resources"]) for flavor in group["flavors"])
        counts.append(("quotas in one resource group", combinations, _MAX_COMBINATIONS))
    for what, count, limit in counts:
        if count > limit:
            yield f"There are {count} {what}, but Kueue takes at most {limit}."


def _coverage_problems(flavor: Mapping[str, Any], covered: Sequence[str]) -> Iterator[str]:
    offered = [resource["name"] for resource in flavor["resources"]]
    for name in _twice(offered):
        yield f"The flavor {_shown(flavor['name'])} has two quotas for {name}; keep one of them."
    if missing := sorted(set(covered) - set(offered)):
        yield (
            f"The flavor {_shown(flavor['name'])} has no quota for {', '.join(missing)}, which its resource group "
            f"covers; add one (0 is allowed), or move the flavor to another group."
        )
    if uncovered := sorted(set(offered) - set(covered)):
        yield (
            f"The flavor {_shown(flavor['name'])} has a quota for {', '.join(uncovered)}, which its resource group "
            f"does not cover; the group covers {', '.join(covered)}."
        )


def _amount_problems(
    named: str, resource: Mapping[str, Any], parent: str, has_parent: bool, lends_own_only: bool
) -> Iterator[str]:
    yield from amount_problems(f"The nominal_quota of {named}", resource["nominalQuota"])
    for key, limit in (("borrowingLimit", "borrowing_limit"), ("lendingLimit", "lending_limit")):
        if resource.get(key) is None:
            continue
        yield from amount_problems(f"The {limit} of {named}", resource[key])
        if not has_parent:
            yield f"The {limit} of {named} needs a {parent}, but there is none; set it, or drop the limit."
    nominal, lent = quantity(resource["nominalQuota"]), quantity(resource.get("lendingLimit"))
    if lends_own_only and nominal is not None and lent is not None and lent > nominal:
        yield (
            f"The lending_limit of {named} is {resource['lendingLimit']}, more than its nominal_quota of "
            f"{resource['nominalQuota']}; lend at most what the queue has."
        )


def _twice(names: Sequence[Any]) -> list[str]:
    return sorted(name for name, count in Counter(n for n in names if isinstance(n, str)).items() if count > 1)


def _shown(name: Any) -> str:
    return name if isinstance(name, str) else "(known after it is created)"
