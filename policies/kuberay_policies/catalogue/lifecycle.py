"""Policies on the life of a RayJob and on what it costs: cleanup, deadlines, retries, autoscaling."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.values import items, mapping
from kuberay_model.sentences import listed
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.targets import Job, Scope

REMOVES_CLUSTER = frozenset({"DeleteCluster", "DeleteSelf"})


@policy(
    "P101",
    "cleanup-required",
    "The RayCluster of a RayJob is removed after success and after failure",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    why="Without cleanup the RayCluster, and the GPUs it holds, stay until somebody deletes them by hand. "
    "U8 looks at failures before Ray reports, P102 at stopped jobs.",
    sources=("kuberay#1944", "kuberay#2187", "kuberay#1101"),
)
def cleanup(job: Job, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for the end of the job that leaves the RayCluster."""
    if job.selects_cluster or job.shuts_down:
        return
    strategy = mapping(job.fields.get("deletionStrategy"))
    rules = [mapping(rule) for rule in items(strategy.get("deletionRules"))]
    if rules:
        removed = {
            status
            for rule in rules
            if rule.get("policy") in REMOVES_CLUSTER
            for status in (mapping(rule.get("condition")).get(key) for key in ("jobStatus", "jobDeploymentStatus"))
        }
        missing = [
            status
            for status, enough in (("SUCCEEDED", {"SUCCEEDED"}), ("FAILED", {"FAILED", "Failed"}))
            if not removed & enough
        ]
        path = f"{job.path}.deletionStrategy.deletionRules"
    else:
        ends = (("onSuccess", "SUCCEEDED"), ("onFailure", "FAILED"))
        missing = [status for key, status in ends if mapping(strategy.get(key)).get("policy") not in REMOVES_CLUSTER]
        path = f"{job.path}.{'deletionStrategy' if strategy else 'shutdownAfterJobFinishes'}"
    if missing:
        yield Problem(
            path,
            f"Nothing removes the RayCluster when the job is {listed(missing, 'or')}.",
            "Set shutdownAfterJobFinishes: true, or add a deletion rule DeleteCluster for each end.",
        )
