"""The parts of an object that policies look at one by one: the job, the Ray cluster, Pods, containers.

A policy is asked once for each part, so that a value known only at deployment defers it for that part alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kuberay_model.rules.job import Job as OperatorJob
from kuberay_model.rules.values import items, mapping, text, with_defaults, without_nulls
from kuberay_model.schemas import Schema
from kuberay_model.versions import Version
from kuberay_policies.guarding import NotYetKnown, guard, guarded, without_unknown
from kuberay_policies.subjects import Subject

RAY_GROUP = "ray.io"
RAY_VERSION = "ray.io/v1"

JOB_PATHS = {"RayJob": "spec", "RayCronJob": "spec.jobTemplate"}
"""Where the spec of a RayJob is, by kind."""

CLUSTER_PATHS = {
    "RayJob": "spec.rayClusterSpec",
    "RayCluster": "spec",
    "RayService": "spec.rayClusterConfig",
    "RayCronJob": "spec.jobTemplate.rayClusterSpec",
}
"""Where the spec of a RayCluster is, by kind."""

CONTAINER_LISTS = ("containers", "initContainers")


class Scope(Enum):
    """What a policy looks at in one go."""

    OBJECT = "object"
    """One object of any kind."""
    WAIVER = "waiver"
    """A waiver of the settings."""
    RULES = "rules"
    """The RayJob that the rules of KubeRay are applied to."""
    JOB = "job"
    CLUSTER = "cluster"
    GROUP = "group"
    POD = "pod"
    CONTAINER = "container"


class Role(Enum):
    """What a Pod template is for."""

    HEAD = "head"
    WORKER = "worker"
    SUBMITTER = "submitter"


class ContainerKind(Enum):
    """What a container is for."""

    MAIN = "main"
    """Runs Ray, or submits the job: the first of `containers`."""
    SIDECAR = "sidecar"
    INIT = "init"


@dataclass(frozen=True)
class Job:
    """The spec of a RayJob, in a RayJob or in a RayCronJob.

    Attributes:
        subject: The object.
        fields: The spec, unknown values guarded.
        path: Path of the spec in the object.
    """

    subject: Subject
    fields: Mapping[str, Any]
    path: str

    @property
    def mode(self) -> str:
        """`submissionMode`."""
        return text(self.fields.get("submissionMode")) or "K8sJobMode"

    @property
    def selects_cluster(self) -> bool:
        """Whether the job runs on an existing RayCluster."""
        return bool(mapping(self.fields.get("clusterSelector")))

    @property
    def shuts_down(self) -> bool:
        """`shutdownAfterJobFinishes`."""
        return self.fields.get("shutdownAfterJobFinishes") is True

    @property
    def cluster(self) -> Cluster:
        """`rayClusterSpec`, empty if unset."""
        return Cluster(self.subject, mapping(self.fields.get("rayClusterSpec")), f"{self.path}.rayClusterSpec", self)


@dataclass(frozen=True)
class Cluster:
    """The spec of a RayCluster, wherever it is.

    Attributes:
        subject: The object.
        fields: The spec, unknown values guarded.
        path: Path of the spec in the object.
        job: The job that the cluster is for; None in a RayCluster and in a RayService.
    """

    subject: Subject
    fields: Mapping[str, Any]
    path: str
    job: Job | None = None

    @property
    def autoscaling(self) -> bool:
        """`enableInTreeAutoscaling`."""
        return self.fields.get("enableInTreeAutoscaling") is True

    @property
    def head(self) -> Group:
        """The head group, empty if unset."""
        return Group(self, mapping(self.fields.get("headGroupSpec")), f"{self.path}.headGroupSpec", Role.HEAD)

    @property
    def workers(self) -> Iterator[Group]:
        """The worker groups."""
        path = f"{self.path}.workerGroupSpecs"
        for index, fields in enumerate(items(self.fields.get("workerGroupSpecs"))):
            yield Group(self, mapping(fields), f"{path}[{index}]", Role.WORKER)

    @property
    def has_token(self) -> bool:
        """Whether token authentication is on."""
        return mapping(self.fields.get("authOptions")).get("mode") == "token"


@dataclass(frozen=True)
class Group:
    """The head group or a worker group.

    Attributes:
        cluster: The cluster.
        fields: The group, unknown values guarded.
        path: Path of the group in the object.
        role: `HEAD` or `WORKER`.
    """

    cluster: Cluster
    fields: Mapping[str, Any]
    path: str
    role: Role

    @property
    def title(self) -> str:
        """The group in a sentence."""
        return "The head group" if self.role is Role.HEAD else f"Worker group {text(self.fields.get('groupName'))!r}"

    @property
    def pod(self) -> Pod:
        """The Pod template."""
        return Pod(self.cluster.subject, mapping(self.fields.get("template")), f"{self.path}.template", self.role, self)


@dataclass(frozen=True)
class Pod:
    """A Pod template.

    Attributes:
        subject: The object.
        fields: The template with `metadata` and `spec`, unknown values guarded.
        path: Path of the template in the object.
        role: What the Pod is for.
        group: The group of the Pod; None for the submitter.
    """

    subject: Subject
    fields: Mapping[str, Any]
    path: str
    role: Role
    group: Group | None = None

    @property
    def spec(self) -> Mapping[str, Any]:
        """`spec` of the template."""
        return mapping(self.fields.get("spec"))

    @property
    def title(self) -> str:
        """The Pod in a sentence."""
        if self.group is None:
            return "The submitter Pod"
        if self.role is Role.HEAD:
            return "The head Pod"
        return f"A Pod of group {text(self.group.fields.get('groupName'))!r}"

    @property
    def containers(self) -> Iterator[Container]:
        """Every container, init containers last."""
        for name in CONTAINER_LISTS:
            for index, fields in enumerate(items(self.spec.get(name))):
                yield Container(self, mapping(fields), f"{self.path}.spec.{name}[{index}]", _kind(name, index))

    @property
    def main(self) -> Container:
        """The container that runs Ray or submits the job; empty if there is none."""
        return next(self.containers, Container(self, {}, f"{self.path}.spec.containers[0]", ContainerKind.MAIN))


@dataclass(frozen=True)
class Container:
    """A container of a Pod template.

    Attributes:
        pod: The Pod template.
        fields: The container, unknown values guarded.
        path: Path of the container in the object.
        kind: What the container is for.
    """

    pod: Pod
    fields: Mapping[str, Any]
    path: str
    kind: ContainerKind

    @property
    def subject(self) -> Subject:
        """The object."""
        return self.pod.subject

    @property
    def name(self) -> str:
        """`name`."""
        return text(self.fields.get("name"))

    @property
    def image(self) -> str:
        """`image`."""
        return text(self.fields.get("image"))

    def amounts(self, which: str) -> Mapping[str, Any]:
        """Return `resources.requests` or `resources.limits`; a request that is not set equals the limit."""
        resources = mapping(self.fields.get("resources"))
        limits = mapping(resources.get("limits"))
        return limits if which == "limits" else {**limits, **mapping(resources.get("requests"))}


def _kind(list_name: str, index: int) -> ContainerKind:
    if list_name == "initContainers":
        return ContainerKind.INIT
    return ContainerKind.SIDECAR if index else ContainerKind.MAIN


@dataclass(frozen=True)
class RuleView:
    """An object as the rules of KubeRay see it: as a RayJob, whatever its kind.

    Attributes:
        subject: The object, unknown values not guarded.
    """

    subject: Subject
    _made: dict[bool, OperatorJob] = field(default_factory=dict, repr=False, compare=False)

    def job(self, version: Version, gates: Mapping[str, bool]) -> OperatorJob:
        """Return the RayJob, unknown values guarded.

        Args:
            version: KubeRay version.
            gates: Every feature gate of the version, on or off.
        """
        if False not in self._made:
            manifest = without_nulls(self._as_rayjob())
            stored = with_defaults(manifest)
            if self.subject.unknown_paths:
                manifest, stored = guard(manifest, self.subject), guard(stored, self.subject)
            self._made[False] = OperatorJob(manifest, stored, version, gates)
        return self._made[False]

    def structure(self, version: Version, gates: Mapping[str, bool], schema: Schema | None) -> OperatorJob:
        """Return the object as it is, unknown values left out, for rules on the schema.

        Args:
            version: KubeRay version.
            gates: Every feature gate of the version, on or off.
            schema: Schema of the CRDs of the cluster; None for that of the version.
        """
        if True not in self._made:
            if self.subject.unknown_paths:
                manifest = without_unknown(without_nulls(self.subject.manifest))
            elif self.subject.kind == "RayJob":
                manifest = self.job(version, gates).manifest
            else:
                manifest = without_nulls(self.subject.manifest)
            self._made[True] = OperatorJob(manifest, manifest, version, gates, schema)
        return self._made[True]

    def _as_rayjob(self) -> Mapping[str, Any]:
        kind, manifest = self.subject.kind, self.subject.manifest
        if kind == "RayJob":
            return manifest
        spec = mapping(manifest.get("spec"))
        if kind == "RayCronJob":
            spec = mapping(spec.get("jobTemplate"))
        else:
            cluster = spec if kind == "RayCluster" else spec.get("rayClusterConfig")
            spec = {"rayClusterSpec": cluster}
        return {"apiVersion": RAY_VERSION, "kind": "RayJob", "metadata": manifest.get("metadata"), "spec": spec}

    def path(self, path: str) -> str | None:
        """Return a path of the RayJob as one of the object; None if the object has no such path."""
        kind = self.subject.kind
        if kind == "RayJob" or path.startswith("metadata"):
            return path
        there = "spec" if kind == "RayCronJob" else "spec.rayClusterSpec"
        here = JOB_PATHS[kind] if kind == "RayCronJob" else CLUSTER_PATHS[kind]
        return f"{here}{path.removeprefix(there)}" if path.startswith(there) else None


Part = Subject | RuleView | Job | Cluster | Group | Pod | Container

_BELOW_CLUSTER = (Scope.CLUSTER, Scope.GROUP, Scope.POD, Scope.CONTAINER)


@dataclass(frozen=True)
class Targets:
    """The parts of one object.

    Attributes:
        original: The object as given.
        subject: The object, unknown values guarded.
        parts: The parts by scope.
        hidden: Paths of parts that are known only at deployment, with the scope of policies that miss them.
    """

    original: Subject
    subject: Subject
    parts: dict[Scope, list[Part]]
    hidden: list[tuple[str, tuple[Scope, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parts[Scope.OBJECT] = [self.subject]
        if self.original.api_version == RAY_VERSION and self.original.kind in CLUSTER_PATHS:
            self._add(Scope.RULES, RuleView(self.original))
            if self.original.kind in JOB_PATHS:
                self._take_job()
            else:
                self._take_cluster(None)

    def _take_job(self) -> None:
        path = JOB_PATHS[self.original.kind]
        fields = self._at(path, (Scope.JOB, *_BELOW_CLUSTER))
        if fields is None:
            return
        job = Job(self.subject, fields, path)
        self._add(Scope.JOB, job)
        self._take_cluster(job)
        submitter = self._read(fields, "submitterPodTemplate", (Scope.POD, Scope.CONTAINER))
        if submitter is not None:
            self._take_pod(Pod(self.subject, mapping(submitter), f"{path}.submitterPodTemplate", Role.SUBMITTER))

    def _take_cluster(self, job: Job | None) -> None:
        path = CLUSTER_PATHS[self.original.kind]
        fields = self._at(path, _BELOW_CLUSTER)
        if fields is None:
            return
        cluster = Cluster(self.subject, fields, path, job)
        self._add(Scope.CLUSTER, cluster)
        below = (Scope.GROUP, Scope.POD, Scope.CONTAINER)
        head = self._read(fields, "headGroupSpec", below)
        if head is not None:
            self._take_group(Group(cluster, mapping(head), f"{path}.headGroupSpec", Role.HEAD))
        for worker_path, worker in self._each(fields, "workerGroupSpecs", path, below):
            self._take_group(Group(cluster, worker, worker_path, Role.WORKER))

    def _take_group(self, group: Group) -> None:
        self._add(Scope.GROUP, group)
        template = self._read(group.fields, "template", (Scope.POD, Scope.CONTAINER))
        if template is not None:
            self._take_pod(Pod(self.subject, mapping(template), f"{group.path}.template", group.role, group))

    def _take_pod(self, pod: Pod) -> None:
        self._add(Scope.POD, pod)
        spec = self._read(pod.fields, "spec", (Scope.CONTAINER,))
        for name in CONTAINER_LISTS:
            for index, (path, fields) in enumerate(
                self._each(mapping(spec), name, f"{pod.path}.spec", (Scope.CONTAINER,))
            ):
                self._add(Scope.CONTAINER, Container(pod, fields, path, _kind(name, index)))

    def _add(self, scope: Scope, part: Part) -> None:
        self.parts.setdefault(scope, []).append(part)

    def _at(self, path: str, scopes: tuple[Scope, ...]) -> Mapping[str, Any] | None:
        """Return the mapping at a dotted path, None if it is unset or unknown."""
        value: Any = self.subject.manifest
        for key in path.split("."):
            value = self._read(mapping(value), key, scopes)
        return None if value is None else mapping(value)

    def _read(self, fields: Mapping[str, Any], key: str, scopes: tuple[Scope, ...]) -> Any:
        try:
            return fields.get(key)
        except NotYetKnown as unknown:
            self.hidden.append((unknown.path, scopes))
            return None

    def _each(
        self, fields: Mapping[str, Any], key: str, path: str, scopes: tuple[Scope, ...]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        entries = items(self._read(fields, key, scopes))
        for index in range(len(entries)):
            try:
                yield f"{path}.{key}[{index}]", mapping(entries[index])
            except NotYetKnown as unknown:
                self.hidden.append((unknown.path, scopes))


def targets(subject: Subject) -> Targets:
    """Take an object apart.

    Args:
        subject: The object, its manifest not guarded.
    """
    return Targets(subject, guarded(subject), {})
