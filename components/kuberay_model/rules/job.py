"""A RayJob as the operator sees it: defaults of the CRD applied, zero values where Go has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kuberay_model import schemas
from kuberay_model.rules.pods import Group
from kuberay_model.rules.values import Fields, integer, items, mapping, text
from kuberay_model.schemas import Schema, Violation
from kuberay_model.versions import Version

HEAD_PATH = "spec.rayClusterSpec.headGroupSpec"
AUTOSCALER_V2_ENV = "RAY_enable_autoscaler_v2"


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
        given_schema: The schema of the CRDs of the cluster; None for the one that comes with this package.
    """

    manifest: Fields
    stored: Fields
    version: Version
    gates: Mapping[str, bool]
    given_schema: Schema | None = None

    @property
    def kind(self) -> str:
        """`kind`; RayJob if it is none of KubeRay's."""
        kind = text(self.manifest.get("kind"))
        return kind if kind in schemas.KINDS else "RayJob"

    @property
    def schema(self) -> Schema | None:
        """The schema to compare the manifest with, None if there is none of this version or kind."""
        schema = self.given_schema or schemas.find(self.version)
        return schema if schema is not None and self.kind in schema.kinds else None

    @cached_property
    def violations(self) -> Sequence[Violation]:
        """Where the manifest is not as the schema says."""
        if self.schema is None:
            return ()
        # jsonschema takes longer to import than all the rules, and those who only read outcomes need none of it.
        from kuberay_model.schemas.checking import violations

        return violations(self.schema.kinds[self.kind], self.manifest)

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
