"""Lives of a RayJob that nothing refuses although they leak, hang or surprise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kuberay_model.rules.cleanup import GATE, STRATEGY
from kuberay_model.rules.job import Job
from kuberay_model.rules.registry import Layer, Problem, Severity, explained_only, rule
from kuberay_model.rules.values import items, mapping, text
from kuberay_model.versions import Version

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
REMOVES_CLUSTER = frozenset({"DeleteCluster", "DeleteSelf"})

_IMAGE_TAG = re.compile(r"(?:^|/)ray(?:-ml|-llm)?:(\d+\.\d+\.\d+)(?![\d.])")


@rule(
    "U8",
    "The RayCluster is also deleted when the RayJob fails before Ray reports",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
    note="kuberay#5184; the upstream sample ray-job.deletion-rules.yaml has this leak.",
)
def leak(job: Job) -> Iterator[Problem]:
    """Failures of submission and deadlines leave jobStatus without an end."""
    if job.selector:
        return
    removing = [entry for entry in job.deletion_rules if entry.policy in REMOVES_CLUSTER]
    if removing and all(entry.job_status is not None for entry in removing):
        yield Problem(
            f"{STRATEGY}.deletionRules",
            "Every rule that removes the RayCluster waits for a jobStatus, which a failed submission, a "
            "deadline or a stop never brings to SUCCEEDED or FAILED: the RayCluster stays.",
            "Add a rule DeleteCluster with condition.jobDeploymentStatus: Failed."
            if job.version >= Version(1, 6)
            else "Use shutdownAfterJobFinishes instead, or KubeRay 1.6 with jobDeploymentStatus: Failed.",
        )


@rule("U9", "Cleanup is not asked for on an existing RayCluster", layer=Layer.NOBODY, severity=Severity.WARNING)
def cleanup_ignored(job: Job) -> Iterator[Problem]:
    """The operator cleans nothing up with clusterSelector, the RayJob itself included."""
    if not job.selector:
        return
    asked = [
        ("spec.shutdownAfterJobFinishes", job.shutdown),
        (STRATEGY, job.deletion_strategy is not None and job.gate(GATE)),
    ]
    for path, is_asked in asked:
        if is_asked:
            yield Problem(path, "With clusterSelector nothing is ever deleted.", "Remove it, and delete the RayJob.")


@rule(
    "U10",
    "A queued RayJob has shutdownAfterJobFinishes and no deletion rules",
    layer=Layer.NOBODY,
    note="Kueue suspends the RayJob: J3 then wants shutdownAfterJobFinishes, which J7 forbids with rules (kueue#3994).",
)
def queued(job: Job) -> Iterator[Problem]:
    """A suspended RayJob must be allowed to lose its RayCluster."""
    if not text(job.labels.get(QUEUE_LABEL)):
        return
    path = f"metadata.labels[{QUEUE_LABEL}]"
    if job.deletion_rules:
        yield Problem(
            path,
            "Kueue suspends the RayJob, and a RayJob with deletionRules cannot be suspended.",
            "Use shutdownAfterJobFinishes and ttlSecondsAfterFinished instead of rules, or remove the queue.",
        )
    elif not job.shutdown:
        yield Problem(
            path,
            "Kueue suspends the RayJob, and without shutdownAfterJobFinishes it cannot be suspended.",
            "Set shutdownAfterJobFinishes: true.",
        )


@rule(
    "U11",
    "A RayJob in InteractiveMode has preRunningDeadlineSeconds",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
    note="kuberay#4037, kuberay#5193.",
)
def endless_wait(job: Job) -> Iterator[Problem]:
    """While Waiting, activeDeadlineSeconds and suspend are not looked at."""
    if job.mode == "InteractiveMode" and "preRunningDeadlineSeconds" not in job.spec:
        yield Problem(
            "spec.preRunningDeadlineSeconds",
            "A RayJob that nobody submits a job to keeps its RayCluster for ever; activeDeadlineSeconds and "
            "suspend do not end the wait.",
            "Set preRunningDeadlineSeconds."
            if job.version >= Version(1, 6)
            else "Use KubeRay 1.6, which has preRunningDeadlineSeconds.",
        )


@rule(
    "U12",
    "Rules on jobStatus and jobDeploymentStatus keep one order",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
)
def order_across_statuses(job: Job) -> Iterator[Problem]:
    """The operator compares ttls within one status only."""
    own = [entry for entry in job.deletion_rules if entry.deployment_status == "Failed"]
    others = [entry for entry in job.deletion_rules if entry.job_status == "FAILED"]
    for thorough in (entry for entry in (*own, *others) if entry.policy == "DeleteSelf"):
        for milder in others if thorough in own else own:
            if milder.policy in ("DeleteCluster", "DeleteWorkers") and thorough.ttl < milder.ttl:
                yield Problem(
                    f"{thorough.path}.condition.ttlSeconds",
                    f"A failed RayJob is deleted after {thorough.ttl} s, before "
                    f"deletionRules[{milder.index}] applies after {milder.ttl} s.",
                    f"Give DeleteSelf a ttlSeconds of at least {milder.ttl}, or remove the other rule.",
                )


@rule("U13", "replicas is between minReplicas and maxReplicas", layer=Layer.NOBODY, severity=Severity.WARNING)
def replicas_outside(job: Job) -> Iterator[Problem]:
    """KubeRay clamps it; Kueue counts it as it stands."""
    for group in job.workers:
        count, low, high = (group.integer(name) for name in ("replicas", "minReplicas", "maxReplicas"))
        if count is None or low is None or high is None or low > high or low <= count <= high:
            continue
        if "replicas" not in mapping(_given(job, group.index)):
            continue
        yield Problem(
            f"{group.path}.replicas",
            f"replicas is {count}, outside of minReplicas {low} and maxReplicas {high}: KubeRay uses "
            f"{min(max(count, low), high)}, while Kueue reserves quota for {count}.",
            f"Use {min(max(count, low), high)}, or move the bounds.",
        )


@rule("U16", "Worker groups have different names", layer=Layer.NOBODY)
def group_names(job: Job) -> Iterator[Problem]:
    """Only the optional webhook refuses it."""
    first: dict[str, int] = {}
    for group in job.workers:
        if (other := first.setdefault(group.name, group.index)) != group.index:
            yield Problem(
                f"{group.path}.groupName",
                f"Worker group {other} also has the name {group.name!r}, and their Pods count as one group.",
                "Give it another name.",
            )


@rule("U17", "rayVersion is the version in the image", layer=Layer.NOBODY, severity=Severity.WARNING)
def version_differs(job: Job) -> Iterator[Problem]:
    """Only tags of the official images are understood."""
    for group in job.groups:
        match = _IMAGE_TAG.search(group.ray_container.image)
        if match and job.ray_version and match.group(1) != job.ray_version:
            yield Problem(
                f"{group.ray_container.path}.image",
                f"The image has Ray {match.group(1)}, but rayVersion is {job.ray_version}.",
                "Make them equal: the operator builds commands for rayVersion.",
            )


explained_only(
    "U18",
    "The operator is not older than the CRDs",
    Layer.NOBODY,
    "A manifest cannot show it: an older operator writes the whole object when it adds its finalizer, and "
    "drops fields it does not know.",
)


@rule("U19", "A RayJob with retries has a deadline", layer=Layer.NOBODY, severity=Severity.WARNING)
def endless_retries(job: Job) -> Iterator[Problem]:
    """Each attempt starts its deadlines anew."""
    if job.backoff_limit > 0 and not {"activeDeadlineSeconds", "preRunningDeadlineSeconds"} & set(job.spec):
        yield Problem(
            "spec.backoffLimit",
            f"{job.backoff_limit + 1} attempts without activeDeadlineSeconds and preRunningDeadlineSeconds "
            "can take for ever.",
            "Set activeDeadlineSeconds; it counts for each attempt.",
        )


def _given(job: Job, index: int) -> object:
    cluster = mapping(mapping(job.manifest.get("spec")).get("rayClusterSpec"))
    groups = items(cluster.get("workerGroupSpecs"))
    return groups[index] if index < len(groups) else None
