"""The head and the worker groups of a RayCluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_kuberay.containers import ServiceType
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.pod_args import PodTemplate
from pulumi_kuberay.pod_template import overlaid, pod_template


@dataclass(kw_only=True)
class HeadGroup:
    """The head pod."""

    pod: PodTemplate | None = None
    """The pod, over what holds for all pods. Default: 1 CPU and 4Gi of memory."""

    ray_start_params: Mapping[str, pulumi.Input[str]] | None = None
    """Parameters of ``ray start``, such as ``num-cpus: "0"`` to run no tasks on the head. Default: none."""

    ray_resources: Mapping[str, pulumi.Input[str]] | None = None
    """Ray's own resources of the pod; not together with such parameters of ``ray start``. Default: none."""

    ray_labels: Mapping[str, pulumi.Input[str]] | None = None
    """Ray's labels of the node. Default: none."""

    service_type: ServiceType | None = None
    """How the head can be reached; whoever reaches its dashboard can run code. Default: ClusterIP, from within the
    cluster only."""

    ingress: bool | None = None
    """True: an Ingress leads to the dashboard, on which anybody can run code. Default: false."""

    extra: Mapping[str, Any] | None = None
    """Fields of ``headGroupSpec``, deep-merged over everything above. Default: none."""


@dataclass(kw_only=True)
class WorkerGroup:
    """A group of identical worker pods."""

    name: pulumi.Input[str]
    """Name of the group, unique within the RayCluster."""

    replicas: pulumi.Input[int] | None = None
    """Number of workers, 0 or more. Default: 1, or `min_replicas`. Not set with autoscaling, where it belongs to
    the Ray autoscaler."""

    min_replicas: pulumi.Input[int] | None = None
    """Smallest number of workers. Default: `replicas`; with autoscaling 0."""

    max_replicas: pulumi.Input[int] | None = None
    """Largest number of workers. Default: `replicas`; with autoscaling it must be set."""

    num_of_hosts: pulumi.Input[int] | None = None
    """Pods per worker, 1 or more, as for slices of TPUs. Default: 1."""

    idle_timeout_seconds: pulumi.Input[int] | None = None
    """Seconds without work after which the autoscaler, version 2, takes a worker away. Default: that of the
    RayCluster."""

    pod: PodTemplate | None = None
    """The pod, over what holds for all pods. Default: 1 CPU and 4Gi of memory."""

    ray_start_params: Mapping[str, pulumi.Input[str]] | None = None
    """Parameters of ``ray start``. Default: none."""

    ray_resources: Mapping[str, pulumi.Input[str]] | None = None
    """Ray's own resources of the pods; not together with such parameters of ``ray start``. Default: none."""

    ray_labels: Mapping[str, pulumi.Input[str]] | None = None
    """Ray's labels of the nodes. Default: none."""

    extra: Mapping[str, Any] | None = None
    """Fields of the group in ``workerGroupSpecs``, deep-merged over everything above. Default: none."""


def head_group(
    head: HeadGroup, common: PodTemplate | None, image: pulumi.Input[str] | None, *, autoscaled: bool
) -> dict[str, Any]:
    """Return the ``headGroupSpec``.

    Args:
        head: The head.
        common: What holds for all pods.
        image: Ray image of all pods.
        autoscaled: Whether the autoscaler runs beside the head.
    """
    pod = overlaid(common, head.pod)
    spec = without_none(
        {
            "serviceType": head.service_type,
            "enableIngress": head.ingress,
            "rayStartParams": dict(head.ray_start_params or {}),
            "resources": head.ray_resources,
            "labels": head.ray_labels,
            "template": pod_template(pod, "ray-head", image=image, token=autoscaled),
        }
    )
    return deep_merge(spec, head.extra or {})


def worker_group(
    group: WorkerGroup, common: PodTemplate | None, image: pulumi.Input[str] | None, *, autoscaled: bool
) -> dict[str, Any]:
    """Return one of the ``workerGroupSpecs``. The arguments are those of `head_group`.

    Raises:
        ArgumentError: The numbers of replicas contradict each other or the autoscaling.
    """
    spec = without_none(
        {
            "groupName": group.name,
            **(_scaled(group) if autoscaled else _fixed(group)),
            "numOfHosts": group.num_of_hosts,
            "idleTimeoutSeconds": group.idle_timeout_seconds,
            "rayStartParams": dict(group.ray_start_params or {}),
            "resources": group.ray_resources,
            "labels": group.ray_labels,
            "template": pod_template(overlaid(common, group.pod), "ray-worker", image=image),
        }
    )
    return deep_merge(spec, group.extra or {})


def _fixed(group: WorkerGroup) -> dict[str, Any]:
    low = group.min_replicas
    replicas = group.replicas if group.replicas is not None else 1 if low is None else low
    lowest = replicas if low is None else low
    highest = replicas if group.max_replicas is None else group.max_replicas
    counts = [number for number in (lowest, replicas, highest) if isinstance(number, int | float)]
    if counts != sorted(counts) or any(number < 0 for number in counts):
        raise ArgumentError(
            f"The worker group {group.name!r} must have 0 <= min_replicas <= replicas <= max_replicas, but "
            f"they are {lowest}, {replicas} and {highest}."
        )
    return {"replicas": replicas, "minReplicas": lowest, "maxReplicas": highest}


def _scaled(group: WorkerGroup) -> dict[str, Any]:
    if group.replicas is not None:
        raise ArgumentError(
            f"The worker group {group.name!r} has replicas, but its RayCluster has autoscaling, where that number "
            "belongs to the Ray autoscaler; set min_replicas and max_replicas instead."
        )
    if group.max_replicas is None:
        raise ArgumentError(
            f"The worker group {group.name!r} has no max_replicas, but its RayCluster has autoscaling; say how far "
            "it may grow."
        )
    lowest = 0 if group.min_replicas is None else group.min_replicas
    if (
        isinstance(lowest, int | float)
        and isinstance(group.max_replicas, int | float)
        and not 0 <= lowest <= group.max_replicas
    ):
        raise ArgumentError(
            f"The worker group {group.name!r} must have 0 <= min_replicas <= max_replicas, but they are {lowest} "
            f"and {group.max_replicas}."
        )
    return {"minReplicas": lowest, "maxReplicas": group.max_replicas}
