"""The component of one ResourceFlavor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from pulumi_kuberay.errors import refuse
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.names import label_key_problems, label_value_problems, object_name_problems
from pulumi_kuberay.objects import KUEUE_API_VERSION, KubernetesObject, object_metadata
from pulumi_kuberay.rendering import FIELD, rendered
from pulumi_kuberay.taints import Taint, Toleration, taint_problems, toleration_problems

_MAX_ENTRIES = 8


@dataclass(kw_only=True)
class ResourceFlavorArgs:
    """Which nodes a flavor stands for. Without any of it, it stands for all nodes."""

    name: str | None = field(default=None, metadata={FIELD: None})
    """Name of the object. Default: Pulumi's logical name. A change replaces the flavor."""

    node_labels: Mapping[str, str] | None = None
    """Labels of the nodes, at most 8; Kueue adds them to the node selector of admitted pods. Default: none."""

    node_taints: Sequence[Taint] | None = None
    """Taints of the nodes, at most 8, which a workload must tolerate to get this flavor. Default: none."""

    tolerations: Sequence[Toleration] | None = None
    """Tolerations that Kueue adds to admitted pods, at most 8. Default: none."""

    topology_name: pulumi.Input[str] | None = None
    """Topology object for topology-aware scheduling. Needs `node_labels`. Default: none."""

    labels: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Labels of the object. Default: none."""

    annotations: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Annotations of the object. Default: none."""

    extra: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Fields of ``spec`` merged over everything above; lists are replaced, null removes. Default: none."""


class ResourceFlavor(pulumi.ComponentResource):
    """A ResourceFlavor: a kind of nodes that quotas are counted for.

    Kueue's webhooks look at it when it is created, so let it depend on `Kueue`. Kueue holds its deletion back
    while a ClusterQueue names it. A change of the name replaces it, the old one first.
    """

    name: pulumi.Output[str]
    """Name of the ResourceFlavor."""

    def __init__(self, name: str, args: ResourceFlavorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the flavor.

        Args:
            name: Pulumi's logical name of the component.
            args: The nodes.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Kueue would refuse the flavor; every reason is told.
        """
        super().__init__("kuberay:index:ResourceFlavor", name, {}, opts)
        manifest = resource_flavor_manifest(name, args)
        self.name = KubernetesObject(name, manifest, pulumi.ResourceOptions(parent=self)).metadata["name"]
        self.register_outputs({"name": self.name})


def resource_flavor_manifest(name: str, args: ResourceFlavorArgs) -> dict[str, Any]:
    """Return the ResourceFlavor object.

    Args:
        name: Name of the object if the arguments have none.
        args: The nodes.

    Raises:
        ArgumentError: Kueue would refuse the flavor; every reason is told.
    """
    spec = deep_merge(rendered(args), args.extra or {})
    metadata = object_metadata(args.name or name, labels=args.labels, annotations=args.annotations)
    refuse(f"The ResourceFlavor {metadata['name']} cannot be used.", _problems(metadata["name"], spec))
    return {"apiVersion": KUEUE_API_VERSION, "kind": "ResourceFlavor", "metadata": metadata, "spec": spec}


def _problems(name: str, spec: Mapping[str, Any]) -> Iterator[str]:
    yield from object_name_problems("Its name", name)
    for key, what in (("nodeLabels", "node_labels"), ("nodeTaints", "node_taints"), ("tolerations", "tolerations")):
        if len(spec.get(key) or ()) > _MAX_ENTRIES:
            yield f"There are {len(spec[key])} {what}, but Kueue takes at most {_MAX_ENTRIES}."
    for key, value in (spec.get("nodeLabels") or {}).items():
        yield from label_key_problems("A key of node_labels", key)
        yield from label_value_problems(f"The value of {key} in node_labels", value)
    yield from taint_problems("the flavor", spec.get("nodeTaints") or ())
    yield from toleration_problems("the flavor", spec.get("tolerations") or ())
    yield from object_name_problems("The topology_name", spec.get("topologyName"))
    if spec.get("topologyName") is not None and not spec.get("nodeLabels"):
        yield "It has a topology_name but no node_labels, which tell Kueue the nodes whose topology to read."
