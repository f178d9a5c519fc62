"""What can be said about a pod of a RayCluster or of a submitter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.containers import PullPolicy
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
