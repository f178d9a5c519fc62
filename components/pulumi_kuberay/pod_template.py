"""The pods of a RayCluster and of a submitter, from typed fields."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.containers import PullPolicy
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.taints import Toleration


class PodSecurityStandard(StrEnum):
    """Which of the Pod Security Standards of Kubernetes a pod meets."""

    RESTRICTED = "restricted"
    """Runs as a user other than root, with no privilege escalation, no capabilities and the runtime's seccomp
    profile. The images of ``rayproject/ray`` run so."""

    BASELINE = "baseline"
    """No security context is set, so the image's own user is used, root included."""


@dataclass(kw_only=True)
class Resources:
    """What a container requests, which is its limit as well.

    Ray takes the limits for what it may hand out, and a container that may use more than it has requested is the first
    to go when a node runs short.
    """

    cpu: pulumi.Input[str] | None = None
    """CPUs, such as ``4`` or ``500m``. Default: none."""

    memory: pulumi.Input[str] | None = None
    """Memory, such as ``16Gi``. Default: none."""

    gpus: pulumi.Input[int] | None = None
    """Number of GPUs, 0 or more. Default: none."""

    gpu_resource: str | None = None
    """Name of the resource that GPUs are. Default: ``nvidia.com/gpu``."""

    requests: Mapping[str, Any] | None = None
    """Requests by name of the resource, over those above. Default: none."""

    limits: Mapping[str, Any] | None = None
    """Limits by name of the resource, over those above; null removes one. Default: none."""


@dataclass(kw_only=True)
class SecretKey:
    """One key of a Secret in the namespace of the pod."""

    name: pulumi.Input[str]
    """Name of the Secret."""

    key: pulumi.Input[str]
    """Key in the Secret."""


@dataclass(kw_only=True)
class Volume:
    """A volume and where it is mounted in the Ray container. Exactly one source is set."""

    name: str
    """Name of the volume, unique in the pod."""

    mount_path: pulumi.Input[str]
    """Folder in the container."""

    sub_path: pulumi.Input[str] | None = None
    """Path within the volume. Default: its root."""

    read_only: bool | None = None
    """True: the container cannot write. Default: false."""

    config_map: pulumi.Input[str] | None = None
    """Source: the ConfigMap of this name."""

    secret: pulumi.Input[str] | None = None
    """Source: the Secret of this name."""

    persistent_volume_claim: pulumi.Input[str] | None = None
    """Source: the PersistentVolumeClaim of this name."""

    empty_dir: bool | None = None
    """Source: true for a folder that is empty at first and goes with the pod."""

    source: Mapping[str, Any] | None = None
    """Source: any other of Kubernetes, as its YAML has it, such as ``{"nfs": {"server": ..., "path": ...}}``."""


@dataclass(kw_only=True)
class PodTemplate:
    """A pod and its main container.

    What is set for all pods of a RayCluster holds for a group unless the group says otherwise: mappings are merged,
    everything else is replaced.
    """

    image: pulumi.Input[str] | None = None
    """Image of the container. Default: the image of the RayCluster."""

    image_pull_policy: PullPolicy | None = None
    """When the node pulls the image. Default: Kubernetes' own, by the tag."""

    image_pull_secrets: Sequence[pulumi.Input[str]] | None = None
    """Names of Secrets for the registry. Default: none."""

    resources: Resources | None = None
    """Resources of the container. Default: 1 CPU and 4Gi of memory for a Ray pod; requests of 500m and 200Mi,
    limits of 1 CPU and 1Gi for a submitter."""

    env: Mapping[str, pulumi.Input[str]] | None = None
    """Environment variables by name. Default: none."""

    secret_env: Mapping[str, SecretKey] | None = None
    """Environment variables whose values are in Secrets, by name. Default: none."""

    env_from: Sequence[Mapping[str, Any]] | None = None
    """ConfigMaps and Secrets whose keys become variables, as Kubernetes' ``envFrom`` has them. Default: none."""

    volumes: Sequence[Volume] | None = None
    """Volumes of the pod, mounted in the container. Default: none."""

    node_selector: Mapping[str, pulumi.Input[str]] | None = None
    """Labels that a node must have. Default: none."""

    tolerations: Sequence[Toleration] | None = None
    """Taints of nodes that the pod tolerates. Default: none."""

    affinity: Mapping[str, Any] | None = None
    """Affinity, as Kubernetes has it. Default: none."""

    topology_spread_constraints: Sequence[Mapping[str, Any]] | None = None
    """Constraints on the spread over nodes, as Kubernetes has them. Default: none."""

    priority_class: pulumi.Input[str] | None = None
    """Name of a PriorityClass of Kubernetes. Default: none."""

    runtime_class: pulumi.Input[str] | None = None
    """Name of a RuntimeClass. Default: none."""

    service_account: pulumi.Input[str] | None = None
    """Name of the ServiceAccount. Default: the namespace's own, ``default``."""

    automount_service_account_token: bool | None = None
    """Whether the pod gets a token for the API server. Default: only where `service_account` is set, and on the
    head of an autoscaled RayCluster, whose autoscaler needs one."""

    labels: Mapping[str, pulumi.Input[str]] | None = None
    """Labels of the pod. Default: none."""

    annotations: Mapping[str, pulumi.Input[str]] | None = None
    """Annotations of the pod. Default: none."""

    security: PodSecurityStandard | None = None
    """The Pod Security Standard that the pod meets. Default: restricted."""

    init_containers: Sequence[Mapping[str, Any]] | None = None
    """Init containers, as Kubernetes has them. Default: none."""

    sidecars: Sequence[Mapping[str, Any]] | None = None
    """Containers beside the main one, as Kubernetes has them. Default: none."""

    container: Mapping[str, Any] | None = None
    """Fields of the main container, deep-merged over those made from the fields above. Default: none."""

    extra: Mapping[str, Any] | None = None
    """Fields of the pod template (``metadata``, ``spec``), deep-merged over everything above; lists are replaced,
    null removes. Default: none."""


RAY_RESOURCES = Resources(cpu="1", memory="4Gi")
"""Resources of a Ray container for which nothing was said."""

SUBMITTER_RESOURCES = Resources(requests={"cpu": "500m", "memory": "200Mi"}, limits={"cpu": "1", "memory": "1Gi"})
"""Resources of a submitter for which nothing was said: those that KubeRay gives its own."""

_DEFAULT_GPU = "nvidia.com/gpu"
_MERGED_MAPPINGS = frozenset({"env", "secret_env", "node_selector", "labels", "annotations"})
_DEEP_MERGED = frozenset({"container", "extra"})
_SOURCES = ("config_map", "secret", "persistent_volume_claim", "empty_dir", "source")


def overlaid(common: PodTemplate | None, own: PodTemplate | None) -> PodTemplate:
    """Return what holds for a group: its own settings over those of all pods of the RayCluster."""
    if common is None or own is None:
        return own or common or PodTemplate()
    return PodTemplate(
        **{
            field.name: _over(field.name, getattr(common, field.name), getattr(own, field.name))
            for field in fields(own)
        }
    )


def pod_template(
    pod: PodTemplate,
    container: str,
    *,
    image: pulumi.Input[str] | None,
    resources: Resources = RAY_RESOURCES,
    token: bool = False,
) -> dict[str, Any]:
    """Return a pod template as Kubernetes has it.

    Args:
        pod: The settings.
        container: Name of the main container.
        image: Image of the main container, where the settings name none.
        resources: Resources of the main container, where the settings name none.
        token: Whether the pod needs a token for the API server.

    Raises:
        ArgumentError: A volume has not exactly one source, or a variable is set twice.
    """
    restricted = (pod.security or PodSecurityStandard.RESTRICTED) == PodSecurityStandard.RESTRICTED
    main = without_none(
        {
            "name": container,
            "image": pod.image if pod.image is not None else image,
            "imagePullPolicy": pod.image_pull_policy,
            "resources": container_resources(pod.resources or resources),
            "env": _environment(pod) or None,
            "envFrom": pod.env_from,
            "volumeMounts": [_mount(volume) for volume in pod.volumes or ()] or None,
            "securityContext": restricted_container() if restricted else None,
        }
    )
    automount = pod.automount_service_account_token
    spec = without_none(
        {
            "containers": [deep_merge(main, pod.container or {}), *(pod.sidecars or ())],
            "initContainers": pod.init_containers or None,
            "imagePullSecrets": [{"name": name} for name in pod.image_pull_secrets or ()] or None,
            "volumes": [_volume(volume) for volume in pod.volumes or ()] or None,
            "nodeSelector": pod.node_selector,
            "tolerations": pod.tolerations or None,
            "affinity": pod.affinity,
            "topologySpreadConstraints": pod.topology_spread_constraints or None,
            "priorityClassName": pod.priority_class,
            "runtimeClassName": pod.runtime_class,
            "serviceAccountName": pod.service_account,
            "automountServiceAccountToken": (token or pod.service_account is not None)
            if automount is None
            else automount,
            "securityContext": _RESTRICTED_POD if restricted else None,
        }
    )
    metadata = without_none({"labels": pod.labels, "annotations": pod.annotations})
    template = {**({"metadata": metadata} if metadata else {}), "spec": spec}
    return deep_merge(template, pod.extra or {})


def container_resources(resources: Resources) -> dict[str, Any]:
    """Return the resources of a container as Kubernetes has them."""
    both = without_none(
        {
            "cpu": resources.cpu,
            "memory": resources.memory,
            resources.gpu_resource or _DEFAULT_GPU: resources.gpus,
        }
    )
    named = {
        "requests": deep_merge(both, resources.requests or {}),
        "limits": deep_merge(both, resources.limits or {}),
    }
    return {key: value for key, value in named.items() if value}


def restricted_container() -> dict[str, Any]:
    """Return what a container adds to its pod's security context to be restricted."""
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


_RESTRICTED_POD: Mapping[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def _over(name: str, common: Any, own: Any) -> Any:
    if common is None or own is None:
        return common if own is None else own
    if name in _MERGED_MAPPINGS:
        return {**common, **own}
    return deep_merge(common, own) if name in _DEEP_MERGED else own


def _environment(pod: PodTemplate) -> list[dict[str, Any]]:
    twice = sorted(set(pod.env or ()) & set(pod.secret_env or ()))
    if twice:
        raise ArgumentError(
            f"The variable {twice[0]} of a pod is set in env and in secret_env; keep one of them, and only "
            "secret_env for what is secret."
        )
    return list(_variables(pod))


def _variables(pod: PodTemplate) -> Iterator[dict[str, Any]]:
    for name, value in (pod.env or {}).items():
        yield {"name": name, "value": value}
    for name, secret in (pod.secret_env or {}).items():
        yield {"name": name, "valueFrom": secret_reference(secret)}


def secret_reference(secret: SecretKey) -> dict[str, Any]:
    """Return a ``valueFrom`` that reads a key of a Secret."""
    return {"secretKeyRef": {"name": secret.name, "key": secret.key}}


def _mount(volume: Volume) -> dict[str, Any]:
    return without_none(
        {
            "name": volume.name,
            "mountPath": volume.mount_path,
            "subPath": volume.sub_path,
            "readOnly": volume.read_only,
        }
    )


def _volume(volume: Volume) -> dict[str, Any]:
    made = [name for name in _SOURCES if getattr(volume, name) not in (None, False)]
    if len(made) != 1:
        raise ArgumentError(
            f"The volume {volume.name!r} must have exactly one source of {', '.join(_SOURCES)}, but it has "
            f"{' and '.join(made) or 'none'}."
        )
    sources: Mapping[str, Any] = {
        "config_map": {"configMap": {"name": volume.config_map}},
        "secret": {"secret": {"secretName": volume.secret}},
        "persistent_volume_claim": {"persistentVolumeClaim": {"claimName": volume.persistent_volume_claim}},
        "empty_dir": {"emptyDir": {}},
        "source": volume.source,
    }
    return {"name": volume.name, **sources[made[0]]}
