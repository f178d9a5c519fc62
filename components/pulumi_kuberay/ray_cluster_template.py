"""The spec of a RayCluster, alone or of a RayJob, from typed fields."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.pod_args import PodSecurityStandard, PodTemplate, Resources, SecretKey
from pulumi_kuberay.pod_template import container_resources, restricted_container, secret_reference
from pulumi_kuberay.ray_groups import HeadGroup, WorkerGroup, head_group, worker_group

DEFAULT_RAY_VERSION = "2.52.0"
_VERSION_IN_TAG = re.compile(r":v?(\d+\.\d+\.\d+)(?![\d.])[^/:@]*(@|$)")


class AutoscalerVersion(StrEnum):
    """Which autoscaler of Ray runs."""

    V1 = "v1"
    V2 = "v2"


class UpscalingMode(StrEnum):
    """How eagerly the autoscaler adds workers."""

    DEFAULT = "Default"
    """As fast as Ray does by itself."""

    AGGRESSIVE = "Aggressive"
    """Upscaling is not rate-limited; the same as Default."""

    CONSERVATIVE = "Conservative"
    """Upscaling is rate-limited: pending workers are at most as many as those that run."""


@dataclass(kw_only=True)
class Autoscaling:
    """The Ray autoscaler, which runs beside the head and changes the replicas of worker groups."""

    version: AutoscalerVersion | None = None
    """Version of the autoscaler. Default: the one that the releases of KubeRay and Ray choose."""

    idle_timeout_seconds: pulumi.Input[int] | None = None
    """Seconds without work after which a worker is taken away, 0 or more. Default: 60."""

    upscaling_mode: UpscalingMode | None = None
    """How eagerly workers are added. Default: Default."""

    image: pulumi.Input[str] | None = None
    """Image of the autoscaler. Default: that of the head."""

    resources: Resources | None = None
    """Resources of the autoscaler. Default: 500m of CPU and 512Mi of memory."""

    env: Mapping[str, pulumi.Input[str]] | None = None
    """Environment variables of the autoscaler by name. Default: none."""

    extra: Mapping[str, Any] | None = None
    """Fields of ``autoscalerOptions``, deep-merged over everything above. Default: none."""


@dataclass(kw_only=True)
class TokenAuth:
    """Whoever talks to Ray needs a token. Needs Ray 2.52 and KubeRay 1.5.1 or later."""

    secret_name: pulumi.Input[str] | None = None
    """Secret with the token in the key that KubeRay reads, "auth_token"; needs KubeRay 1.6. Default: KubeRay makes one,
    named after the RayCluster."""


@dataclass(kw_only=True)
class GcsFaultTolerance:
    """Ray's state is kept in Redis, so that a RayCluster outlives its head pod."""

    redis_address: pulumi.Input[str]
    """Address of Redis, such as ``redis:6379``."""

    redis_username: SecretKey | None = None
    """Where the user's name is. Default: none is sent."""

    redis_password: SecretKey | None = None
    """Where the password is. Default: none is sent."""

    external_storage_namespace: pulumi.Input[str] | None = None
    """Prefix of the keys in Redis. Default: the UID of the RayCluster."""


@dataclass(kw_only=True)
class RayClusterTemplate:
    """A RayCluster: one head and groups of workers, all with one image unless a group says otherwise."""

    image: pulumi.Input[str] | None = None
    """Ray image of all pods. Default: ``rayproject/ray`` of `ray_version`."""

    ray_version: pulumi.Input[str] | None = None
    """Ray release that the image contains. Default: the one in the image's tag, or 2.52.0 without an image."""

    pods: PodTemplate | None = None
    """What holds for the head and all workers. Default: nothing but the safe defaults of a pod."""

    head: HeadGroup | None = None
    """The head. Default: a pod with 1 CPU and 4Gi of memory."""

    workers: Sequence[WorkerGroup] | None = None
    """Worker groups. Default: none, everything runs on the head."""

    autoscaling: Autoscaling | None = None
    """The Ray autoscaler. Default: off, worker groups keep their replicas."""

    token_auth: TokenAuth | None = None
    """Authentication by token. Default: off, as in Ray 2.52."""

    gcs_fault_tolerance: GcsFaultTolerance | None = None
    """Keep Ray's state in Redis. Default: it is lost with the head."""

    extra: Mapping[str, Any] | None = None
    """Fields of the RayCluster's spec, deep-merged over everything above; lists are replaced, null removes.
    Default: none."""


def ray_cluster_spec(cluster: RayClusterTemplate) -> dict[str, Any]:
    """Return the spec of the RayCluster.

    Raises:
        ArgumentError: Settings of a group contradict each other.
    """
    image, version = image_and_version(cluster.image, cluster.ray_version)
    autoscaled = cluster.autoscaling is not None
    spec = without_none(
        {
            "rayVersion": version,
            "enableInTreeAutoscaling": True if autoscaled else None,
            "autoscalerOptions": _autoscaler(cluster.autoscaling, cluster.pods) if cluster.autoscaling else None,
            "authOptions": without_none({"mode": "token", "secretName": cluster.token_auth.secret_name})
            if cluster.token_auth
            else None,
            "gcsFaultToleranceOptions": _redis(cluster.gcs_fault_tolerance) if cluster.gcs_fault_tolerance else None,
            "headGroupSpec": head_group(cluster.head or HeadGroup(), cluster.pods, image, autoscaled=autoscaled),
            "workerGroupSpecs": [
                worker_group(group, cluster.pods, image, autoscaled=autoscaled) for group in cluster.workers or ()
            ],
        }
    )
    return deep_merge(spec, cluster.extra or {})


def image_and_version(
    image: pulumi.Input[str] | None, version: pulumi.Input[str] | None
) -> tuple[pulumi.Input[str], pulumi.Input[str] | None]:
    """Return the image and the Ray release that it contains, each from the other where only one is given.

    The release is None where the tag of the image does not begin with one.
    """
    if image is None:
        release = DEFAULT_RAY_VERSION if version is None else version
        named = f"rayproject/ray:{release}" if isinstance(release, str) else None
        return named or pulumi.Output.concat("rayproject/ray:", release), release
    if version is None and isinstance(image, str):
        found = _VERSION_IN_TAG.search(image)
        return image, found[1] if found else None
    return image, version


def _autoscaler(options: Autoscaling, pods: PodTemplate | None) -> dict[str, Any]:
    restricted = pods is None or pods.security in (None, PodSecurityStandard.RESTRICTED)
    spec = without_none(
        {
            "version": options.version,
            "idleTimeoutSeconds": options.idle_timeout_seconds,
            "upscalingMode": options.upscaling_mode,
            "image": options.image,
            "resources": container_resources(options.resources) if options.resources else None,
            "env": [{"name": name, "value": value} for name, value in (options.env or {}).items()] or None,
            "securityContext": restricted_container() if restricted else None,
        }
    )
    return deep_merge(spec, options.extra or {})


def _redis(options: GcsFaultTolerance) -> dict[str, Any]:
    return without_none(
        {
            "redisAddress": options.redis_address,
            "redisUsername": _from_secret(options.redis_username),
            "redisPassword": _from_secret(options.redis_password),
            "externalStorageNamespace": options.external_storage_namespace,
        }
    )


def _from_secret(secret: SecretKey | None) -> dict[str, Any] | None:
    return None if secret is None else {"valueFrom": secret_reference(secret)}
