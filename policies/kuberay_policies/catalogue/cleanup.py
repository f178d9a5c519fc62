"""Policies on what is removed after a job, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import integer, items, mapping, text
from kuberay_model.sentences import listed
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.targets import Job, Scope

REMOVES_CLUSTER = frozenset({"DeleteCluster", "DeleteSelf"})
DAY = 24 * 60 * 60


class Cleanup(Parameters):
    """Parameters of P101."""

    keep_head: Annotated[bool, Field(description="Accept DeleteWorkers, which keeps the head Pod. Default false.")] = (
        False
    )


class Ttl(Parameters):
    """Parameters of P103."""

    max_seconds: Annotated[int, Field(ge=0, description="Longest time until cleanup, in seconds. Default one day.")] = (
        DAY
    )


@policy(
    "P101",
    "cleanup-required",
    "The RayCluster of a RayJob is removed after success and after failure",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    parameters=Cleanup,
    why="Without cleanup the RayCluster, and the GPUs it holds, stay until somebody deletes them by hand. "
    "U8 looks at failures before Ray reports a status, P102 at stopped jobs.",
    sources=("kuberay#1944", "kuberay#2187", "kuberay#1101"),
)
def cleanup_required(job: Job, parameters: Cleanup, _: Context) -> Iterator[Problem]:
    """Look for the end of the job that leaves the RayCluster."""
    if job.selects_cluster or job.shuts_down:
        return
    enough = REMOVES_CLUSTER | {"DeleteWorkers"} if parameters.keep_head else REMOVES_CLUSTER
    strategy = mapping(job.fields.get("deletionStrategy"))
    rules = [mapping(rule) for rule in items(strategy.get("deletionRules"))]
    covered = {
        status
        for rule in rules
        if text(rule.get("policy")) in enough
        for status in (text(mapping(rule.get("condition")).get(key)) for key in ("jobStatus", "jobDeploymentStatus"))
    }
    for key, status in (("onSuccess", "SUCCEEDED"), ("onFailure", "FAILED")):
        if text(mapping(strategy.get(key)).get("policy")) in enough:
            covered.add(status)
    missing = [
        status
        for status, covering in (("SUCCEEDED", {"SUCCEEDED"}), ("FAILED", {"FAILED", "Failed"}))
        if not covered & covering
    ]
    if missing:
        field = "deletionStrategy" + (".deletionRules" if rules else "") if strategy else "shutdownAfterJobFinishes"
        yield Problem(
            f"{job.path}.{field}",
            f"Nothing removes the RayCluster when the job is {listed(missing, 'or')}.",
            "Set shutdownAfterJobFinishes: true, or add a deletion rule DeleteCluster for each end.",
        )


@policy(
    "P102",
    "stopped-job-cleanup",
    "The RayCluster is also removed when the job is stopped",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    why="A job that is stopped (`ray job stop`) ends as STOPPED with jobDeploymentStatus Complete. No deletion rule "
    "can name that end, and neither onSuccess nor onFailure is applied: the RayCluster stays.",
    sources=("kuberay#5184",),
)
def stopped_job(job: Job, _: Parameters, __: Context) -> Iterator[Problem]:
    """Only shutdownAfterJobFinishes covers every end."""
    if not job.selects_cluster and not job.shuts_down and "deletionStrategy" in job.fields:
        yield Problem(
            f"{job.path}.deletionStrategy",
            "A job that is stopped ends as STOPPED, which no deletion rule matches: its RayCluster stays.",
            "Use shutdownAfterJobFinishes: true with ttlSecondsAfterFinished instead, or delete the RayJob after "
            "stopping the job.",
        )


@policy(
    "P103",
    "ttl-limit",
    "What is left of a finished job is removed within a limit",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    parameters=Ttl,
    why="Until the time is over the RayCluster runs idle and is paid for.",
)
def ttl_limit(job: Job, parameters: Ttl, _: Context) -> Iterator[Problem]:
    """Compare ttlSecondsAfterFinished and the times of deletion rules."""
    rules = items(mapping(job.fields.get("deletionStrategy")).get("deletionRules"))
    times = [(f"{job.path}.ttlSecondsAfterFinished", job.fields.get("ttlSecondsAfterFinished"))]
    for index, rule in enumerate(rules):
        condition = mapping(mapping(rule).get("condition"))
        path = f"{job.path}.deletionStrategy.deletionRules[{index}].condition.ttlSeconds"
        times.append((path, condition.get("ttlSeconds")))
    for path, value in times:
        seconds = integer(value)
        if seconds is not None and seconds > parameters.max_seconds:
            yield Problem(
                path,
                f"Cleanup comes after {seconds} s, and at most {parameters.max_seconds} s are allowed.",
                f"Use {parameters.max_seconds} s or less.",
            )


@policy(
    "P104",
    "no-delete-self",
    "A declared RayJob is not deleted by itself",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    kinds=frozenset({"RayJob"}),
    why="DeleteSelf removes the RayJob object. The next `pulumi up` after a refresh, or the next sync of Argo CD "
    "or Flux, finds it missing and creates it again, and the job runs again.",
)
def delete_self(job: Job, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for DeleteSelf in rules and in the legacy fields."""
    strategy = mapping(job.fields.get("deletionStrategy"))
    path = f"{job.path}.deletionStrategy"
    entries = [(f"{path}.{key}.policy", strategy.get(key)) for key in ("onSuccess", "onFailure")]
    entries += [
        (f"{path}.deletionRules[{index}].policy", rule)
        for index, rule in enumerate(items(strategy.get("deletionRules")))
    ]
    for place, entry in entries:
        if mapping(entry).get("policy") == "DeleteSelf":
            yield Problem(
                place,
                "DeleteSelf removes the RayJob, and whatever declares it creates it again: the job runs again.",
                "Use DeleteCluster, which keeps the RayJob with its result.",
            )
