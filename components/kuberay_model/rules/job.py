"""A RayJob as the operator sees it: defaults of the CRD applied, zero values where Go has them.

Reading never fails: a field of the wrong type reads as unset, and the schema rules report the type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kuberay_model.versions import Version

Fields = Mapping[str, Any]

INT32_MAX = 2**31 - 1
HEAD_PATH = "spec.rayClusterSpec.headGroupSpec"
AUTOSCALER_V2_ENV = "RAY_enable_autoscaler_v2"

_SPEC_DEFAULTS: Fields = {"backoffLimit": 0, "submissionMode": "K8sJobMode", "ttlSecondsAfterFinished": 0}
_CONDITION_DEFAULTS: Fields = {"ttlSeconds": 0}
_WORKER_DEFAULTS: Fields = {"replicas": 0, "minReplicas": 0, "maxReplicas": INT32_MAX, "numOfHosts": 1}


def mapping(value: object) -> Fields:
    """Return the value if it is a mapping, and an empty mapping otherwise."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[Any]:
    """Return the value if it is a list, and an empty list otherwise."""
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def text(value: object) -> str:
    """Return the value if it is a string, and the empty string otherwise, as Go decodes an unset string."""
    return value if isinstance(value, str) else ""


def integer(value: object) -> int | None:
    """Return the value if it is an integer; True is not 1."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def without_nulls(value: Any) -> Any:
    """Copy a value as the API server prunes it: a null field is an unset field."""
    if isinstance(value, Mapping):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(inner) for inner in value]
    return value


def defaulted(manifest: Fields) -> dict[str, Any]:
    """Copy a RayJob with nulls pruned and the defaults of the CRD applied, as the API server stores it."""
    copy: dict[str, Any] = without_nulls(manifest)
    spec = copy.setdefault("spec", {})
    if not isinstance(spec, dict):
        return copy
    _fill(spec, _SPEC_DEFAULTS)
    for rule in items(mapping(spec.get("deletionStrategy")).get("deletionRules")):
        _fill(mapping(rule).get("condition"), _CONDITION_DEFAULTS)
    for group in items(mapping(spec.get("rayClusterSpec")).get("workerGroupSpecs")):
        _fill(group, _WORKER_DEFAULTS)
    return copy


def _fill(target: object, defaults: Fields) -> None:
    if isinstance(target, dict):
        for name, value in defaults.items():
            target.setdefault(name, value)


@dataclass(frozen=True)
class Container:
    """A container of a Pod template.

    Attributes:
        path: Path in the manifest.
        fields: The container.
    """

    path: str
    fields: Fields

    @property
    def name(self) -> str:
        """Name of the container."""
        return text(self.fields.get("name"))

    @property
    def image(self) -> str:
        """Image of the container."""
        return text(self.fields.get("image"))

    @property
    def env(self) -> Mapping[str, Fields]:
        """Environment variables by name; of several with one name the first, as the operator looks."""
        return env_by_name(self.fields.get("env"))

    @property
    def volume_mounts(self) -> Sequence[Fields]:
        """Volume mounts."""
        return [mapping(mount) for mount in items(self.fields.get("volumeMounts"))]


def env_by_name(value: object) -> Mapping[str, Fields]:
    """Return environment variables by name, the first of each name."""
    found: dict[str, Fields] = {}
    for variable in items(value):
        found.setdefault(text(mapping(variable).get("name")), mapping(variable))
    return found


@dataclass(frozen=True)
class Group:
    """The head group or a worker group.

    Attributes:
        path: Path in the manifest.
        fields: The group.
        index: Index of a worker group; 0 for the head group.
        head: Whether it is the head group.
    """

    path: str
    fields: Fields
    index: int = 0
    head: bool = False

    @property
    def name(self) -> str:
        """`groupName`; `Head` for the head group."""
        return "Head" if self.head else text(self.fields.get("groupName"))

    @property
    def title(self) -> str:
        """The group in a sentence."""
        return "The head group" if self.head else f"Worker group {self.name!r}"

    @property
    def place(self) -> str:
        """Where the operator checks it, as `OPERATOR_ORDER` names it."""
        return "head" if self.head else "worker"

    @property
    def pod(self) -> Fields:
        """`template.spec`."""
        return mapping(mapping(self.fields.get("template")).get("spec"))

    @property
    def containers(self) -> Sequence[Container]:
        """Containers of the Pod template."""
        path = f"{self.path}.template.spec.containers"
        return [
            Container(f"{path}[{i}]", mapping(fields))
            for i, fields in enumerate(items(self.pod.get("containers")))
        ]

    @property
    def ray_container(self) -> Container:
        """The first container, which runs Ray; without fields if there is none."""
        return next(iter(self.containers), Container(f"{self.path}.template.spec.containers[0]", {}))

    @property
    def restart_policy(self) -> str:
        """`restartPolicy` of the Pod template; empty if unset."""
        return text(self.pod.get("restartPolicy"))

    @property
    def ray_start_params(self) -> Fields:
        """`rayStartParams`."""
        return mapping(self.fields.get("rayStartParams"))

    def integer(self, field: str) -> int | None:
        """Return an integer field, None if unset."""
        return integer(self.fields.get(field))


@dataclass(frozen=True)
class DeletionRule:
    """One of `deletionStrategy.deletionRules`.

    Attributes:
        index: Index in the list.
        policy: DeleteWorkers, DeleteCluster, DeleteSelf or DeleteNone.
        condition: The condition.
        deployment_aware: Whether this version of KubeRay knows `condition.jobDeploymentStatus`.
    """

    index: int
    policy: str
    condition: Fields
    deployment_aware: bool

    @property
    def path(self) -> str:
        """Path in the manifest."""
        return f"spec.deletionStrategy.deletionRules[{self.index}]"

    @property
    def job_status(self) -> str | None:
        """`condition.jobStatus`, None if unset."""
        return text(self.condition["jobStatus"]) if "jobStatus" in self.condition else None

    @property
    def deployment_status(self) -> str | None:
        """`condition.jobDeploymentStatus`, None if unset or dropped by a CRD that does not have it."""
        if self.deployment_aware and "jobDeploymentStatus" in self.condition:
            return text(self.condition["jobDeploymentStatus"])
        return None

    @property
    def ttl(self) -> int:
        """`condition.ttlSeconds`."""
        return integer(self.condition.get("ttlSeconds")) or 0

    @property
    def trigger(self) -> tuple[str, str]:
        """The field of the condition and its value."""
        if self.job_status is not None:
            return ("jobStatus", self.job_status)
        return ("jobDeploymentStatus", self.deployment_status or "")


@dataclass(frozen=True)
class Job:
    """A RayJob with the version and the feature gates of the operator that is to run it.

    Attributes:
        manifest: The RayJob as given, nulls pruned but no defaults applied.
        stored: The RayJob as the API server stores it.
        version: Version of the operator.
        gates: Every feature gate of that version, on or off.
    """

    manifest: Fields
    stored: Fields
    version: Version
    gates: Mapping[str, bool]

    @property
    def metadata(self) -> Fields:
        """`metadata`."""
        return mapping(self.stored.get("metadata"))

    @property
    def name(self) -> str:
        """`metadata.name`, or what `metadata.generateName` becomes: 5 random characters are appended."""
        name, prefix = (text(self.metadata.get(field)) for field in ("name", "generateName"))
        return name if name or not prefix else f"{prefix}xxxxx"

    @property
    def labels(self) -> Fields:
        """`metadata.labels`."""
        return mapping(self.metadata.get("labels"))

    @property
    def annotations(self) -> Fields:
        """`metadata.annotations`."""
        return mapping(self.metadata.get("annotations"))

    @property
    def spec(self) -> Fields:
        """`spec`."""
        return mapping(self.stored.get("spec"))

    @property
    def status(self) -> Fields:
        """`status`."""
        return mapping(self.stored.get("status"))

    @property
    def mode(self) -> str:
        """`spec.submissionMode`."""
        return text(self.spec.get("submissionMode"))

    @property
    def suspend(self) -> bool:
        """`spec.suspend`."""
        return self.spec.get("suspend") is True

    @property
    def shutdown(self) -> bool:
        """`spec.shutdownAfterJobFinishes`."""
        return self.spec.get("shutdownAfterJobFinishes") is True

    @property
    def selector(self) -> Fields:
        """`spec.clusterSelector`; with any entry the RayJob runs on an existing RayCluster."""
        return mapping(self.spec.get("clusterSelector"))

    @property
    def backoff_limit(self) -> int:
        """`spec.backoffLimit`."""
        return integer(self.spec.get("backoffLimit")) or 0

    @property
    def entrypoint(self) -> str:
        """`spec.entrypoint` without surrounding blanks, as the operator submits it."""
        return text(self.spec.get("entrypoint")).strip()

    @property
    def submitter(self) -> Group | None:
        """The template of the submitter Pod, None if there is no such Pod or the operator makes it up."""
        if self.mode == "K8sJobMode" and "submitterPodTemplate" in self.spec:
            return Group("spec.submitterPodTemplate", {"template": self.spec["submitterPodTemplate"]})
        return None

    @property
    def submits_by_own_command(self) -> bool:
        """Whether the submitter template has a command, which replaces that of the entrypoint."""
        return self.submitter is not None and bool(items(self.submitter.ray_container.fields.get("command")))

    @property
    def has_cluster(self) -> bool:
        """Whether `spec.rayClusterSpec` is set."""
        return "rayClusterSpec" in self.spec

    @property
    def cluster(self) -> Fields:
        """`spec.rayClusterSpec`, empty if unset."""
        return mapping(self.spec.get("rayClusterSpec"))

    @cached_property
    def head(self) -> Group:
        """The head group."""
        return Group(HEAD_PATH, mapping(self.cluster.get("headGroupSpec")), head=True)

    @cached_property
    def workers(self) -> Sequence[Group]:
        """The worker groups."""
        return [
            Group(f"spec.rayClusterSpec.workerGroupSpecs[{i}]", mapping(fields), index=i)
            for i, fields in enumerate(items(self.cluster.get("workerGroupSpecs")))
        ]

    @property
    def groups(self) -> Iterator[Group]:
        """The head group and the worker groups, if the RayJob has a RayCluster of its own."""
        if self.has_cluster:
            yield self.head
            yield from self.workers

    @property
    def ray_version(self) -> str:
        """`spec.rayClusterSpec.rayVersion`."""
        return text(self.cluster.get("rayVersion"))

    @property
    def autoscaling(self) -> bool:
        """`enableInTreeAutoscaling`."""
        return self.cluster.get("enableInTreeAutoscaling") is True

    @property
    def autoscaler_options(self) -> Fields:
        """`autoscalerOptions`."""
        return mapping(self.cluster.get("autoscalerOptions"))

    @property
    def autoscaler_v2(self) -> bool:
        """Whether `autoscalerOptions.version` asks for version 2 of the autoscaler."""
        return self.autoscaler_options.get("version") == "v2"

    @property
    def autoscaler_v2_by_env(self) -> str:
        """The value of the head container's variable that turns autoscaler v2 on; empty if it does not."""
        value = text(mapping(self.head.ray_container.env.get(AUTOSCALER_V2_ENV)).get("value"))
        return value if value in ("1", "true") else ""

    @property
    def deletion_strategy(self) -> Fields | None:
        """`spec.deletionStrategy`, None if unset."""
        return mapping(self.spec["deletionStrategy"]) if "deletionStrategy" in self.spec else None

    @cached_property
    def deletion_rules(self) -> Sequence[DeletionRule]:
        """`spec.deletionStrategy.deletionRules`."""
        return [
            DeletionRule(
                i,
                text(mapping(fields).get("policy")),
                mapping(mapping(fields).get("condition")),
                deployment_aware=self.version >= Version(1, 6),
            )
            for i, fields in enumerate(items(mapping(self.deletion_strategy).get("deletionRules")))
        ]

    def gate(self, name: str) -> bool:
        """Tell whether the operator has the feature gate and it is on."""
        return self.gates.get(name, False)
