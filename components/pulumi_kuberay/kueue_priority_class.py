"""The component of one WorkloadPriorityClass."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_kuberay.errors import refuse
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.names import label_value_problems, object_name_problems
from pulumi_kuberay.objects import KUEUE_API_VERSION, KubernetesObject, object_metadata

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_MAX_DESCRIPTION = 2048


@dataclass(kw_only=True)
class WorkloadPriorityClassArgs:
    """A priority of workloads in their queue; pods keep theirs."""

    value: int
    """The priority, from -2147483648 to 2147483647; higher goes first. A change does not reach workloads that
    exist."""

    name: str | None = None
    """Name of the object, at most 63 characters. Default: Pulumi's logical name. A change replaces the class."""

    description: str | None = None
    """When to use the class, at most 2048 characters. Default: none."""

    labels: Mapping[str, str] | None = None
    """Labels of the object. Default: none."""

    annotations: Mapping[str, str] | None = None
    """Annotations of the object. Default: none."""

    extra: Mapping[str, Any] | None = None
    """Fields of the object merged over everything above; lists are replaced, null removes. Default: none."""


class WorkloadPriorityClass(pulumi.ComponentResource):
    """A WorkloadPriorityClass: a RayJob names it in its label ``kueue.x-k8s.io/priority-class``.

    Let it depend on `Kueue`, and jobs on it. A change of the name replaces it, the old one first.
    """

    name: pulumi.Output[str]
    """Name of the WorkloadPriorityClass."""

    def __init__(self, name: str, args: WorkloadPriorityClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the class.

        Args:
            name: Pulumi's logical name of the component.
            args: The priority.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Kueue would refuse the class, or no job could name it; every reason is told.
        """
        super().__init__("kuberay:index:WorkloadPriorityClass", name, {}, opts)
        manifest = workload_priority_class_manifest(name, args)
        self.name = KubernetesObject(name, manifest, pulumi.ResourceOptions(parent=self)).metadata["name"]
        self.register_outputs({"name": self.name})


def workload_priority_class_manifest(name: str, args: WorkloadPriorityClassArgs) -> dict[str, Any]:
    """Return the WorkloadPriorityClass object, which has no ``spec``.

    Args:
        name: Name of the object if the arguments have none.
        args: The priority.

    Raises:
        ArgumentError: Kueue would refuse the class, or no job could name it; every reason is told.
    """
    metadata = object_metadata(args.name or name, labels=args.labels, annotations=args.annotations)
    refuse(f"The WorkloadPriorityClass {metadata['name']} cannot be used.", _problems(metadata["name"], args))
    manifest = without_none(
        {
            "apiVersion": KUEUE_API_VERSION,
            "kind": "WorkloadPriorityClass",
            "metadata": metadata,
            "value": int(args.value),
            "description": args.description,
        }
    )
    return deep_merge(manifest, args.extra or {})


def _problems(name: str, args: WorkloadPriorityClassArgs) -> Iterator[str]:
    yield from object_name_problems("Its name", name)
    yield from label_value_problems("Its name, which jobs give as a label,", name)
    if not _LOWEST <= args.value <= _HIGHEST:
        yield f"Its value must be from {_LOWEST} to {_HIGHEST}, but it is {args.value}."
    if len(args.description or "") > _MAX_DESCRIPTION:
        yield f"Its description has {len(args.description or '')} characters, but Kueue takes {_MAX_DESCRIPTION}."
