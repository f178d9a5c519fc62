"""The RayCluster of a RayJob, from typed head and worker groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none

DEFAULT_RAY_VERSION = "2.52.0"


@dataclass(kw_only=True)
class HeadGroup:
    """The head pod."""

    image: pulumi.Input[str] | None = None
    """Ray image. Default: the image of the RayJob."""

    resources: Mapping[str, Any] | None = None
    """Requests and limits of the Ray container. Default: requests and limits of 1 CPU and 4Gi of memory."""

    ray_start_params: Mapping[str, pulumi.Input[str]] | None = None
    """Parameters of ``ray start``. Default: none."""

    template: Mapping[str, Any] | None = None
    """Pod template, deep-merged over the one made from the fields above; lists are replaced. Default:
    nothing."""


@dataclass(kw_only=True)
class WorkerGroup:
    """A group of identical worker pods."""

    name: pulumi.Input[str]
    """Name of the group, unique within the RayCluster."""

    replicas: pulumi.Input[int] | None = None
    """Number of workers at the start, 0 or more. Default: 1. Later changes by the Ray autoscaler are left
    alone."""

    min_replicas: pulumi.Input[int] | None = None
    """Smallest number of workers. Default: `replicas`."""

    max_replicas: pulumi.Input[int] | None = None
    """Largest number of workers. Default: `replicas`."""

    image: pulumi.Input[str] | None = None
    """Ray image. Default: the image of the RayJob."""

    resources: Mapping[str, Any] | None = None
    """Requests and limits of the Ray container. Default: requests and limits of 1 CPU and 4Gi of memory."""

    ray_start_params: Mapping[str, pulumi.Input[str]] | None = None
    """Parameters of ``ray start``. Default: none."""

    template: Mapping[str, Any] | None = None
    """Pod template, deep-merged over the one made from the fields above; lists are replaced. Default:
    nothing."""


_DEFAULT_RESOURCES = {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"cpu": "1", "memory": "4Gi"}}


def ray_cluster_spec(
    head: HeadGroup,
    workers: Sequence[WorkerGroup],
    ray_version: pulumi.Input[str] | None,
    image: pulumi.Input[str] | None,
) -> dict[str, Any]:
    """Return the spec of the RayCluster.

    Args:
        head: The head pod.
        workers: The worker groups.
        ray_version: Ray release of the image. Default: 2.52.0.
        image: Ray image of all pods. Default: ``rayproject/ray`` of that release.

    Raises:
        ArgumentError: The numbers of replicas of a group contradict each other.
    """
    release = ray_version if ray_version is not None else DEFAULT_RAY_VERSION
    common = image if image is not None else pulumi.Output.format("rayproject/ray:{0}", release)
    if image is None and isinstance(release, str):
        common = f"rayproject/ray:{release}"
    return {
        "rayVersion": release,
        "headGroupSpec": {
            "rayStartParams": dict(head.ray_start_params or {}),
            "template": _template(head, "ray-head", common),
        },
        "workerGroupSpecs": [_worker_group(group, common) for group in workers],
    }


def _worker_group(group: WorkerGroup, image: pulumi.Input[str]) -> dict[str, Any]:
    replicas = 1 if group.replicas is None else group.replicas
    lowest = replicas if group.min_replicas is None else group.min_replicas
    highest = replicas if group.max_replicas is None else group.max_replicas
    counts = [number for number in (lowest, replicas, highest) if isinstance(number, int | float)]
    if counts != sorted(counts) or any(number < 0 for number in counts):
        raise ArgumentError(
            f"The worker group {group.name!r} must have 0 <= min_replicas <= replicas <= max_replicas, but "
            f"they are {lowest}, {replicas} and {highest}."
        )
    return {
        "groupName": group.name,
        "replicas": _integer(replicas),
        "minReplicas": _integer(lowest),
        "maxReplicas": _integer(highest),
        "rayStartParams": dict(group.ray_start_params or {}),
        "template": _template(group, "ray-worker", image),
    }


def _template(group: HeadGroup | WorkerGroup, container: str, image: pulumi.Input[str]) -> dict[str, Any]:
    ray = without_none(
        {
            "name": container,
            "image": group.image if group.image is not None else image,
            "resources": group.resources if group.resources is not None else _DEFAULT_RESOURCES,
        }
    )
    return deep_merge({"spec": {"containers": [ray]}}, group.template or {})


def _integer(value: pulumi.Input[int]) -> pulumi.Input[int]:
    return int(value) if isinstance(value, float) else value
