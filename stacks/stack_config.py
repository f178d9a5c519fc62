"""What one environment wants, read from `Pulumi.<stack>.yaml`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config_errors import ConfigError, Problem, config_error, spoken
from declared_fields import declared_fields
from pulumi.runtime.config import CONFIG, get_config_env, get_config_secret_keys_env, is_config_secret
from stack_file import PROJECT, StackFile
from typed_values import TypedValues

from pulumi_kuberay import (
    ClusterQueueArgs,
    CohortArgs,
    KubeRayCrdsArgs,
    KubeRayOperatorArgs,
    KueueArgs,
    LocalQueueArgs,
    RayClusterArgs,
    RayJobArgs,
    ResourceFlavorArgs,
    WorkloadPriorityClassArgs,
)


@dataclass(frozen=True, kw_only=True)
class Versions:
    """Releases that several parts of the stack share."""

    kuberay: str | None = None
    """Release of KubeRay, without a leading ``v``: of its CRDs, its operator and the rules for its objects."""

    kueue: str | None = None
    """Release of Kueue, without a leading ``v``."""

    ray: str | None = None
    """Release of Ray in RayJobs and RayClusters that name none."""


@dataclass(frozen=True, kw_only=True)
class StackConfig:
    """The configuration of one stack. Every key may be left out."""

    versions: Versions = field(default_factory=Versions)
    """Releases that several parts share. Default: those of the components."""

    charts: Path | None = None
    """A folder on this machine with Helm charts, each a folder or a ``.tgz`` file, used instead of the repositories."""

    protect: bool = False
    """Refuse to delete namespaces, operator, Kueue and queues (Pulumi's ``protect``). Default: false."""

    throwaway: bool = False
    """Let ``pulumi destroy`` delete the CRDs, and with them every Ray object and every queue of the cluster. Default:
    false."""

    namespaces: Sequence[str] = ()
    """Namespaces to create, without the operator's own."""

    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    """Labels of these namespaces."""

    namespace: str = "default"
    """Namespace of jobs, queues and objects of `manifests` that name none. Default: ``default``."""

    crds: KubeRayCrdsArgs | None = None
    """KubeRay's CRDs. Default: this stack does not own them."""

    operator: KubeRayOperatorArgs | None = None
    """The KubeRay operator. Default: this stack does not own it."""

    kueue: KueueArgs | None = None
    """Kueue, with its CRDs. Default: this stack does not own it."""

    flavors: Mapping[str, ResourceFlavorArgs] = field(default_factory=dict)
    """ResourceFlavors of Kueue, by their names."""

    cohorts: Mapping[str, CohortArgs] = field(default_factory=dict)
    """Cohorts of Kueue, by their names. One without quotas of its own need not be here."""

    cluster_queues: Mapping[str, ClusterQueueArgs] = field(default_factory=dict)
    """ClusterQueues of Kueue, by their names."""

    local_queues: Mapping[str, LocalQueueArgs] = field(default_factory=dict)
    """LocalQueues of Kueue, by their names."""

    priority_classes: Mapping[str, WorkloadPriorityClassArgs] = field(default_factory=dict)
    """WorkloadPriorityClasses of Kueue, by their names."""

    ray_clusters: Mapping[str, RayClusterArgs] = field(default_factory=dict)
    """RayClusters that stay, by their names."""

    ray_jobs: Mapping[str, RayJobArgs] = field(default_factory=dict)
    """RayJobs, by their names."""

    manifests: Sequence[Path] = ()
    """YAML files of RayJobs and of what they need, relative to the program's folder, in the order given."""

    @classmethod
    def load(cls, file: StackFile) -> "StackConfig":
        """Read the configuration of the stack that runs.

        Args:
            file: Where the configuration is written, for the places of errors.

        Raises:
            ConfigError: A key is unknown, a value has the wrong type, or a value is encrypted.
        """
        hidden = get_config_secret_keys_env()
        values = stack_values()
        secret = [key for key in values if f"{PROJECT}:{key}" in hidden or is_config_secret(f"{PROJECT}:{key}")]
        if secret:
            raise config_error([Problem((key,), _encrypted(key)) for key in secret], file)
        return cls.parse(values, file)

    @classmethod
    def parse(cls, values: Mapping[str, Any], file: StackFile | None = None) -> "StackConfig":
        """Check the values of the keys, without the project's prefix.

        Raises:
            ConfigError: A key is unknown or its value has the wrong type.
        """
        reader = TypedValues()
        config = reader.record(cls, _with_namespaces(values), ())
        if config is None:
            raise config_error(reader.problems, file or StackFile())
        if config.protect and config.throwaway:
            raise ConfigError(
                f"{PROJECT}:protect keeps what {PROJECT}:throwaway lets go, but both are true; drop one of them."
            )
        return config


def stack_values() -> dict[str, Any]:
    """Return the values of the stack that runs, by their keys without the project's prefix."""
    prefix = f"{PROJECT}:"
    texts: dict[str, str] = {**get_config_env(), **CONFIG.get()}
    own = {key.removeprefix(prefix): text for key, text in texts.items() if key.startswith(prefix)}
    return {key: _decoded(key, text) for key, text in own.items()}


def _with_namespaces(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Put LocalQueues, whose namespace is required, into the namespace of the stack."""
    queues = values.get("localQueues")
    if not isinstance(queues, Mapping):
        return values
    namespace = values.get("namespace") or StackConfig.namespace
    placed = {
        name: {"namespace": namespace, **queue} if isinstance(queue, Mapping) else queue
        for name, queue in queues.items()
    }
    return {**values, "localQueues": placed}


def _decoded(key: str, text: str) -> Any:
    field = declared_fields(StackConfig).get(key)
    if field is not None and field.type in (str, Path):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _encrypted(key: str) -> str:
    return (
        f"{spoken((key,))} has an encrypted value, which everybody could read in the objects made of it; keep it in "
        "a Kubernetes Secret and refer to that with secretKeyRef."
    )
