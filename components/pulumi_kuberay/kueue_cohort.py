"""The component of one Cohort."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from pulumi_kuberay.errors import refuse
from pulumi_kuberay.kueue_quotas import (
    FairSharing,
    ResourceGroup,
    resource_group_problems,
    resource_groups,
    weight_problems,
)
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.names import object_name_problems
from pulumi_kuberay.objects import KUEUE_API_VERSION, KubernetesObject, object_metadata
from pulumi_kuberay.rendering import FIELD, rendered


@dataclass(kw_only=True)
class CohortArgs:
    """What a cohort adds to its queues. A cohort without any of it needs no object."""

    name: str | None = field(default=None, metadata={FIELD: None})
    """Name of the object. Default: Pulumi's logical name. A change replaces the cohort."""

    parent_name: pulumi.Input[str] | None = None
    """Cohort above this one, from which it borrows. Default: none."""

    resource_groups: Sequence[ResourceGroup] | None = field(default=None, metadata={FIELD: None})
    """Quotas that all its queues share, on top of their own; limits need a `parent_name`. Default: none."""

    fair_sharing: FairSharing | None = None
    """Weight among the cohorts of its parent, if Kueue is configured for fair sharing. Default: 1."""

    labels: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Labels of the object. Default: none."""

    annotations: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Annotations of the object. Default: none."""

    extra: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Fields of ``spec`` merged over everything above; lists are replaced, null removes. Default: none."""


class Cohort(pulumi.ComponentResource):
    """A Cohort: ClusterQueues, and cohorts below it, that lend each other what they do not use.

    Let it depend on `Kueue`. A change of the name replaces it, the old one first.
    """

    name: pulumi.Output[str]
    """Name of the Cohort."""

    def __init__(self, name: str, args: CohortArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the cohort.

        Args:
            name: Pulumi's logical name of the component.
            args: What it adds to its queues.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Kueue would refuse the cohort; every reason is told.
        """
        super().__init__("kuberay:index:Cohort", name, {}, opts)
        manifest = cohort_manifest(name, args)
        self.name = KubernetesObject(name, manifest, pulumi.ResourceOptions(parent=self)).metadata["name"]
        self.register_outputs({"name": self.name})


def cohort_manifest(name: str, args: CohortArgs) -> dict[str, Any]:
    """Return the Cohort object.

    Args:
        name: Name of the object if the arguments have none.
        args: What it adds to its queues.

    Raises:
        ArgumentError: Kueue would refuse the cohort; every reason is told.
    """
    groups = {"resourceGroups": resource_groups(args.resource_groups)} if args.resource_groups else {}
    spec = deep_merge({**groups, **rendered(args)}, args.extra or {})
    metadata = object_metadata(args.name or name, labels=args.labels, annotations=args.annotations)
    refuse(f"The Cohort {metadata['name']} cannot be used.", _problems(metadata["name"], spec))
    return {"apiVersion": KUEUE_API_VERSION, "kind": "Cohort", "metadata": metadata, "spec": spec}


def _problems(name: str, spec: Mapping[str, Any]) -> Iterator[str]:
    parent = spec.get("parentName")
    yield from object_name_problems("Its name", name)
    yield from object_name_problems("The parent_name", parent)
    if parent == name:
        yield "Its parent_name is its own name; name the cohort above it, or none."
    groups = spec.get("resourceGroups") or ()
    yield from resource_group_problems(groups, "parent_name", parent is not None, lends_own_only=False)
    yield from weight_problems(spec.get("fairSharing"))
