"""From typed arguments to a pod template of Kubernetes: pure functions."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import pulumi

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.pod_args import PodSecurityStandard, PodTemplate, Resources, SecretKey, Volume

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
