"""The component of one LocalQueue."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from pulumi_kuberay.errors import refuse
from pulumi_kuberay.kueue_cluster_queue_args import StopPolicy
from pulumi_kuberay.kueue_quotas import FairSharing, weight_problems
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.names import label_value_problems, namespace_problems, object_name_problems
from pulumi_kuberay.objects import KUEUE_API_VERSION, KubernetesObject, object_metadata
from pulumi_kuberay.rendering import FIELD, rendered


@dataclass(kw_only=True)
class LocalQueueArgs:
    """A namespace's entrance to a ClusterQueue."""

    namespace: pulumi.Input[str] = field(metadata={FIELD: None})
    """Namespace of the queue, and of the jobs that name it. A change replaces the queue."""

    cluster_queue: pulumi.Input[str]
    """Name of the ClusterQueue. A change replaces the LocalQueue, because Kueue forbids it otherwise."""

    name: str | None = field(default=None, metadata={FIELD: None})
    """Name of the object, at most 63 characters. Default: Pulumi's logical name. A change replaces the
    queue."""

    stop_policy: StopPolicy | None = None
    """``None``, ``Hold`` or ``HoldAndDrain``. Default: None, the queue admits."""

    fair_sharing: FairSharing | None = None
    """Weight among the LocalQueues, if Kueue is configured for admission fair sharing. Default: 1."""

    labels: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Labels of the object. Default: none."""

    annotations: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Annotations of the object. Default: none."""

    extra: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Fields of ``spec`` merged over everything above; lists are replaced, null removes. Default: none."""


class LocalQueue(pulumi.ComponentResource):
    """A LocalQueue: the queue that a RayJob names in its label ``kueue.x-k8s.io/queue-name``.

    Let it depend on `Kueue`, and jobs on it. A change of the name, the namespace or the ClusterQueue replaces it,
    the old one first; jobs that wait in it meanwhile stay suspended.
    """

    name: pulumi.Output[str]
    """Name of the LocalQueue."""

    namespace: pulumi.Output[str]
    """Namespace of the LocalQueue."""

    def __init__(self, name: str, args: LocalQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the queue.

        Args:
            name: Pulumi's logical name of the component.
            args: Where it is and where it leads.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Kueue would refuse the queue, or no job could name it; every reason is told.
        """
        super().__init__("kuberay:index:LocalQueue", name, {}, opts)
        manifest = local_queue_manifest(name, args)
        child = pulumi.ResourceOptions(
            parent=self, replace_on_changes=["spec.clusterQueue"], delete_before_replace=True
        )
        metadata = KubernetesObject(name, manifest, child).metadata
        self.name, self.namespace = metadata["name"], metadata["namespace"]
        self.register_outputs({"name": self.name, "namespace": self.namespace})


def local_queue_manifest(name: str, args: LocalQueueArgs) -> dict[str, Any]:
    """Return the LocalQueue object.

    Args:
        name: Name of the object if the arguments have none.
        args: Where it is and where it leads.

    Raises:
        ArgumentError: Kueue would refuse the queue, or no job could name it; every reason is told.
    """
    spec = deep_merge(rendered(args), args.extra or {})
    metadata = object_metadata(args.name or name, args.namespace, args.labels, args.annotations)
    refuse(f"The LocalQueue {metadata['name']} cannot be used.", _problems(metadata, spec))
    return {"apiVersion": KUEUE_API_VERSION, "kind": "LocalQueue", "metadata": metadata, "spec": spec}


def _problems(metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[str]:
    yield from object_name_problems("Its name", metadata["name"])
    yield from label_value_problems("Its name, which jobs give as a label,", metadata["name"])
    yield from namespace_problems("Its namespace", metadata["namespace"])
    yield from object_name_problems("The cluster_queue", spec.get("clusterQueue"))
    yield from weight_problems(spec.get("fairSharing"))
