"""Policies on RayJobs and RayClusters that Kueue admits."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import integer, items, mapping, text
from kuberay_model.versions import Version
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Cluster, Job, Scope

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
QUEUE_PATH = f"metadata.labels[{QUEUE_LABEL}]"
ELASTIC_ANNOTATION = "kueue.x-k8s.io/elastic-job"
RESERVED_NAMES = ("head", "submitter")
QUEUED_KINDS = frozenset({"RayJob", "RayCluster", "RayService"})

_POD_SETS = ((Version(0, 19), 18), (Version(0, 18), 10), (Version(0, 0), 8))


class Namespaces(Parameters):
    """Parameters of P201."""

    namespaces: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            description="Namespaces in which a queue is required; `*` stands for any text. Default none.",
        ),
    ] = ()


class Delay(Parameters):
    """Parameters of P204."""

    max_seconds: Annotated[
        int, Field(ge=0, description="Longest time Pods may run without quota, in seconds. Default 300.")
    ] = 300


def queue(subject: Subject) -> str:
    """Return the name of the LocalQueue an object is for, empty if there is none."""
    return text(mapping(subject.metadata.get("labels")).get(QUEUE_LABEL))


@policy(
    "P201",
    "queue-required",
    "Ray workloads of managed namespaces name a queue",
    family=Family.KUEUE,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    parameters=Namespaces,
    why="Without the label Kueue does not see the object: it starts at once and takes what others have quota for.",
)
def queue_required(subject: Subject, parameters: Namespaces, _: Context) -> Iterator[Problem]:
    """Look for the label in the namespaces of the parameter."""
    if not parameters.namespaces or mapping(mapping(subject.manifest.get("spec")).get("clusterSelector")):
        return
    namespace = text(subject.metadata.get("namespace")) or "default"
    if any(fnmatchcase(namespace, pattern) for pattern in parameters.namespaces) and not queue(subject):
        yield Problem(
            QUEUE_PATH,
            f"In the namespace {namespace} Ray workloads are admitted by Kueue, and this one names no queue.",
            f"Set the label {QUEUE_LABEL} to the name of a LocalQueue of the namespace.",
        )


@policy(
    "P202",
    "queue-on-existing-cluster",
    "A RayJob on an existing RayCluster names no queue",
    family=Family.KUEUE,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    kinds=frozenset({"RayJob"}),
    why="Kueue leaves RayJobs with clusterSelector alone, and refuses those that have rayClusterSpec as well.",
)
def queue_on_existing_cluster(job: Job, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for the label together with clusterSelector."""
    if job.selects_cluster and queue(job.subject):
        both = "rayClusterSpec" in job.fields
        yield Problem(
            QUEUE_PATH,
            "Kueue refuses a RayJob with both clusterSelector and rayClusterSpec."
            if both
            else "Kueue does not manage a RayJob with clusterSelector: it starts without quota.",
            "Remove clusterSelector." if both else "Remove the label, and queue the RayCluster instead.",
        )


@policy(
    "P203",
    "suspend-undeclared",
    "suspend is left to Kueue",
    family=Family.KUEUE,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    why="Kueue suspends and resumes the object. A declared suspend is overwritten, and each apply fights Kueue.",
    sources=("kueue#14702", "kueue#8900"),
)
def suspend_declared(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for suspend in a queued object."""
    if queue(subject) and "suspend" in mapping(subject.manifest.get("spec")):
        yield Problem(
            "spec.suspend",
            "The object is queued, and Kueue alone decides whether it is suspended.",
            "Remove suspend; to hold the object back, use a LocalQueue with stopPolicy Hold.",
        )


@policy(
    "P204",
    "no-pods-without-quota",
    "Pods of a queued RayJob do not outlive its quota for long",
    family=Family.KUEUE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    kinds=frozenset({"RayJob"}),
    parameters=Delay,
    why="Kueue gives the quota to the next workload as soon as the RayJob is Complete or Failed. Until the "
    "RayCluster is removed, its Pods run beside those of the next workload.",
    sources=("kueue#3994",),
)
def pods_without_quota(job: Job, parameters: Delay, _: Context) -> Iterator[Problem]:
    """Look at what delays the removal of the RayCluster."""
    if not queue(job.subject):
        return
    seconds = integer(job.fields.get("ttlSecondsAfterFinished")) or 0
    if seconds > parameters.max_seconds:
        yield Problem(
            f"{job.path}.ttlSecondsAfterFinished",
            f"The quota is given away when the job ends, and its Pods run on for {seconds} s.",
            f"Use at most {parameters.max_seconds}.",
        )
    strategy = mapping(job.fields.get("deletionStrategy"))
    for key in ("onSuccess", "onFailure"):
        kept = mapping(strategy.get(key)).get("policy")
        if kept in ("DeleteNone", "DeleteWorkers"):
            yield Problem(
                f"{job.path}.deletionStrategy.{key}.policy",
                f"The quota is given away when the job ends, and {kept} keeps Pods.",
                "Use DeleteCluster.",
            )


@policy(
    "P205",
    "pod-set-limit",
    "A queued RayCluster has no more groups than a Workload can hold",
    family=Family.KUEUE,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    why="Kueue makes one Workload with a pod set for the head, for each worker group, and in K8sJobMode for the "
    "submitter. With too many the Workload cannot be created and the object stays suspended. A Workload "
    "holds 8 pod sets up to Kueue 0.17, 10 in 0.18, 18 from 0.19 on.",
)
def pod_sets(cluster: Cluster, _: Parameters, context: Context) -> Iterator[Problem]:
    """Count the pod sets."""
    if not queue(cluster.subject):
        return
    version = context.settings.kueue_version
    most = next(limit for since, limit in _POD_SETS if version >= since)
    submitter = int(cluster.job is not None and cluster.job.mode == "K8sJobMode")
    groups = len(items(cluster.fields.get("workerGroupSpecs")))
    if 1 + groups + submitter > most:
        yield Problem(
            f"{cluster.path}.workerGroupSpecs",
            f"Head, {groups} worker groups{' and submitter' if submitter else ''} are "
            f"{1 + groups + submitter} pod sets, and Kueue {version} takes {most}.",
            f"Use at most {most - 1 - submitter} worker groups.",
        )


@policy(
    "P206",
    "pod-set-names",
    "Pod sets of a queued RayCluster have different names",
    family=Family.KUEUE,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    why="The pod set of a worker group has the group's name in lower case; `head` and `submitter` are taken.",
)
def pod_set_names(cluster: Cluster, _: Parameters, __: Context) -> Iterator[Problem]:
    """Compare names as Kueue writes them."""
    if not queue(cluster.subject):
        return
    has_submitter = cluster.job is not None and cluster.job.mode == "K8sJobMode"
    seen = dict.fromkeys(RESERVED_NAMES if has_submitter else RESERVED_NAMES[:1], "Kueue")
    for group in cluster.workers:
        name = text(group.fields.get("groupName"))
        if name.lower() in seen:
            yield Problem(
                f"{group.path}.groupName",
                f"The pod set {name.lower()!r} is taken by {seen[name.lower()]}.",
                "Give the worker group another name.",
            )
        seen.setdefault(name.lower(), f"worker group {name!r}")


@policy(
    "P207",
    "elastic-annotation",
    "A queued RayCluster that is autoscaled is an elastic job",
    family=Family.KUEUE,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    why="Kueue refuses enableInTreeAutoscaling unless the object is annotated as elastic and its feature gate "
    "ElasticJobsViaWorkloadSlices is on.",
    sources=("kueue#7605", "kueue#8016"),
)
def elastic(cluster: Cluster, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for the annotation."""
    annotations = mapping(cluster.subject.metadata.get("annotations"))
    if queue(cluster.subject) and cluster.autoscaling and annotations.get(ELASTIC_ANNOTATION) != "true":
        yield Problem(
            f"{cluster.path}.enableInTreeAutoscaling",
            "Kueue refuses a queued RayCluster that scales itself.",
            f'Set the annotation {ELASTIC_ANNOTATION}: "true" and turn on Kueue\'s feature gate '
            "ElasticJobsViaWorkloadSlices, or turn autoscaling off.",
        )
