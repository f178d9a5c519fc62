"""The component of one ClusterQueue."""

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi

from pulumi_kuberay.errors import ArgumentError, refuse
from pulumi_kuberay.kueue_cluster_queue_args import ClusterQueueArgs, ConcurrentAdmission
from pulumi_kuberay.kueue_quotas import resource_group_problems, resource_groups, weight_problems
from pulumi_kuberay.label_selectors import LabelSelector, namespaces_selector, selector_problems
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.names import namespace_problems, object_name_problems
from pulumi_kuberay.objects import KUEUE_API_VERSION, KubernetesObject, object_metadata
from pulumi_kuberay.rendering import rendered

_MAX_FLAVORS_TRIED_AT_ONCE = 16


class ClusterQueue(pulumi.ComponentResource):
    """A ClusterQueue: quotas, and who may use them.

    Kueue's webhooks look at it when it is created, so let it depend on `Kueue`; its flavors may come before or
    after it. While a workload uses it, Kueue holds its deletion back: delete jobs first, which Pulumi does when
    they depend on it. A change of the name or of `concurrent_admission` replaces it, the old one first.
    """

    name: pulumi.Output[str]
    """Name of the ClusterQueue."""

    def __init__(self, name: str, args: ClusterQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the queue.

        Args:
            name: Pulumi's logical name of the component.
            args: Quotas and rules.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Kueue would refuse the queue; every reason is told.
        """
        super().__init__("kuberay:index:ClusterQueue", name, {}, opts)
        manifest = cluster_queue_manifest(name, args)
        child = pulumi.ResourceOptions(
            parent=self, replace_on_changes=["spec.concurrentAdmissionPolicy"], delete_before_replace=True
        )
        self.name = KubernetesObject(name, manifest, child).metadata["name"]
        self.register_outputs({"name": self.name})


def cluster_queue_manifest(name: str, args: ClusterQueueArgs) -> dict[str, Any]:
    """Return the ClusterQueue object.

    Args:
        name: Name of the object if the arguments have none.
        args: Quotas and rules.

    Raises:
        ArgumentError: Kueue would refuse the queue; every reason is told.
    """
    if args.namespaces is not None and args.namespace_selector is not None:
        raise ArgumentError(
            f"The ClusterQueue {args.name or name} has namespaces and a namespace_selector; use one of them."
        )
    known = without_none(
        {
            "namespaceSelector": rendered(_namespace_selector(args)),
            "resourceGroups": resource_groups(args.resource_groups or ()),
            "admissionChecksStrategy": {"admissionChecks": rendered(args.admission_checks)}
            if args.admission_checks
            else None,
            "admissionScope": {"admissionMode": args.admission_mode.value} if args.admission_mode else None,
            "concurrentAdmissionPolicy": _concurrent_admission(args.concurrent_admission),
        }
    )
    spec = deep_merge({**known, **rendered(args)}, args.extra or {})
    metadata = object_metadata(args.name or name, labels=args.labels, annotations=args.annotations)
    refuse(f"The ClusterQueue {metadata['name']} cannot be used.", _problems(metadata["name"], spec, args))
    return {"apiVersion": KUEUE_API_VERSION, "kind": "ClusterQueue", "metadata": metadata, "spec": spec}


def _namespace_selector(args: ClusterQueueArgs) -> LabelSelector:
    if args.namespaces is not None:
        return namespaces_selector(args.namespaces)
    return args.namespace_selector or LabelSelector()


def _concurrent_admission(policy: ConcurrentAdmission | None) -> dict[str, Any] | None:
    if policy is None:
        return None
    constraints = {"lastAcceptableFlavorName": policy.last_acceptable_flavor} if policy.last_acceptable_flavor else None
    return {"migration": without_none({"mode": policy.mode.value, "constraints": constraints})}


def _problems(name: str, spec: Mapping[str, Any], args: ClusterQueueArgs) -> Iterator[str]:
    yield from object_name_problems("Its name", name)
    if args.namespaces is not None and not args.namespaces:
        yield "namespaces is empty, so that no job could use the queue; name some, or leave it out for all."
    for namespace in args.namespaces or ():
        yield from namespace_problems("A namespace", namespace)
    yield from selector_problems("namespace_selector", spec.get("namespaceSelector"))
    yield from object_name_problems("The cohort_name", spec.get("cohortName"))
    groups = spec.get("resourceGroups") or ()
    yield from resource_group_problems(groups, "cohort_name", bool(spec.get("cohortName")), lends_own_only=True)
    yield from weight_problems(spec.get("fairSharing"))
    yield from _preemption_problems(spec)
    flavors = [flavor["name"] for group in groups for flavor in group["flavors"]]
    yield from _admission_check_problems(spec, flavors)
    yield from _concurrent_admission_problems(spec, flavors)


def _preemption_problems(spec: Mapping[str, Any]) -> Iterator[str]:
    preemption, fungibility = spec.get("preemption") or {}, spec.get("flavorFungibility") or {}
    borrowing = (preemption.get("borrowWithinCohort") or {}).get("policy", "Never")
    if borrowing != "Never" and preemption.get("reclaimWithinCohort", "Never") == "Never":
        yield (
            f"borrow_within_cohort has the policy {borrowing}, but reclaim_within_cohort is Never; allow both, or "
            "neither."
        )
    searches = (fungibility.get("whenCanBorrow", "MayStopSearch"), fungibility.get("whenCanPreempt", "TryNextFlavor"))
    if fungibility.get("preference") and set(searches) != {"TryNextFlavor"}:
        yield (
            "preference of flavor_fungibility needs TryNextFlavor in when_can_borrow and when_can_preempt, but they "
            f"are {searches[0]} and {searches[1]}."
        )


def _admission_check_problems(spec: Mapping[str, Any], flavors: list[Any]) -> Iterator[str]:
    checks = (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or ()
    names = [check["name"] for check in checks]
    for check in checks:
        yield from object_name_problems("The name of an admission check", check["name"])
        unknown = [flavor for flavor in check.get("onFlavors") or () if flavor not in flavors]
        if unknown and all(isinstance(flavor, str) for flavor in flavors):
            yield f"The admission check {check['name']} is for flavors that the queue does not have: {unknown}."
    if len(set(names)) < len(names):
        yield f"An admission check is there twice: {names}."


def _concurrent_admission_problems(spec: Mapping[str, Any], flavors: list[Any]) -> Iterator[str]:
    migration = (spec.get("concurrentAdmissionPolicy") or {}).get("migration")
    if migration is None:
        return
    groups = len(spec.get("resourceGroups") or ())
    if groups != 1:
        yield f"concurrent_admission needs exactly one resource group, but there are {groups}."
    if len(flavors) > _MAX_FLAVORS_TRIED_AT_ONCE:
        yield f"concurrent_admission takes at most {_MAX_FLAVORS_TRIED_AT_ONCE} flavors, but there are {len(flavors)}."
    if spec.get("queueingStrategy") == "StrictFIFO":
        yield "concurrent_admission cannot go with the queueing_strategy StrictFIFO; use BestEffortFIFO."
    last = (migration.get("constraints") or {}).get("lastAcceptableFlavorName")
    if last is None:
        return
    if migration.get("mode") != "TryPreferredFlavors":
        yield f"last_acceptable_flavor needs the mode TryPreferredFlavors, but it is {migration.get('mode')}."
    if last not in flavors and all(isinstance(flavor, str) for flavor in flavors):
        yield f"last_acceptable_flavor is {last}, which is no flavor of the queue."
