"""The mutants: ways in which an operator could be wrong, and the oracles that have to notice each of them."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.gateway import mutants as do
from kuberay_e2e.gateway.identity import random_part
from kuberay_e2e.gateway.mutants import Act, Change, Mutation, ReleasedFirst, Usurped, releases, to_ray, write


@dataclass(frozen=True)
class Mutant:
    """A way in which the operator is wrong.

    Attributes:
        name: Its name in the kill table.
        sentence: What is wrong, a sentence.
        point: The run in which it acts, as `points.parse` reads it; most have no fault besides.
        caught_by: The promises of which each has to be found broken.
        make: Makes what stands in the path of the operator's calls.
    """

    name: str
    sentence: str
    point: str
    caught_by: tuple[str, ...]
    make: Callable[[], Mutation]


def _status(**values: Any) -> Change:
    return lambda value: value["status"].update(values)


def _random(field: str) -> Change:
    return lambda value: value["status"].update({field: f"job-{random_part(secrets.choice)}"})


def _no_owner(value: dict[str, Any]) -> None:
    del value["metadata"]["ownerReferences"]


def _later(value: dict[str, Any]) -> None:
    value["status"]["endTime"] = "2100-01-01T00:00:00Z"


def _write(act: Act, verb: str, resource: str, subresource: str = "", **status: str) -> Callable[[], Mutation]:
    return lambda: Mutation(write(verb, resource, subresource, **status), act)


def _written(act: Act, **status: str) -> Callable[[], Mutation]:
    return _write(act, "update", "rayjobs", "status", **status)


_RUNNING = {"jobDeploymentStatus": "Running"}
_COMPLETE = {"jobDeploymentStatus": "Complete"}
_ONE_CLUSTER = "one RayCluster an attempt"
_STOPPED = "a running job is stopped before the finalizer goes"
_SAME_END = "end state is that without a fault"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "cluster-created-twice",
        "The RayCluster is created a second time, under another name.",
        "http",
        (_ONE_CLUSTER,),
        _write(do.twice_renamed, "create", "rayclusters"),
    ),
    Mutant(
        "submitter-created-twice",
        "The submitter Job is created a second time, under another name.",
        "k8sjob",
        ("one submitter Job an attempt",),
        _write(do.twice_renamed, "create", "jobs"),
    ),
    Mutant(
        "service-created-twice",
        "The Service of the head is created a second time, under another name.",
        "http",
        (_SAME_END,),
        _write(do.twice_renamed, "create", "services"),
    ),
    Mutant(
        "submitted-twice",
        "The job is submitted a second time, under the same id.",
        "http",
        ("one submission a jobId",),
        lambda: Mutation(to_ray("submit"), do.twice),
    ),
    Mutant(
        "submitted-under-two-ids",
        "The job is submitted a second time, under another id.",
        "http",
        ("the entrypoint runs as often as it should",),
        lambda: Mutation(to_ray("submit"), do.repeated(lambda value: value.update(submission_id="job-again"))),
    ),
    Mutant(
        "operator-submits-too",
        "The operator submits the job although a submitter Job is to do it.",
        "k8sjob",
        ("submitted by whom its mode says",),
        _written(do.with_submission, **_RUNNING),
    ),
    Mutant(
        "status-dropped",
        "The status of the end is acknowledged and never stored.",
        "k8sjob",
        ("what is acknowledged is stored",),
        _written(do.acknowledged, **_COMPLETE),
    ),
    Mutant(
        "finalizer-kept",
        "The removal of the finalizer is acknowledged and never stored, however often it is tried.",
        "http",
        ("what is acknowledged is stored", "reaches its end", "nothing is left"),
        lambda: Mutation(releases, do.acknowledged, once=False),
    ),
    Mutant(
        "job-id-replaced",
        "jobId is replaced in a later status.",
        "k8sjob",
        ("one jobId an attempt",),
        _written(do.changed(_random("jobId")), **_RUNNING),
    ),
    Mutant(
        "cluster-named-again",
        "rayClusterName is replaced in a later status.",
        "k8sjob",
        (_ONE_CLUSTER,),
        _written(do.changed(_random("rayClusterName")), **_RUNNING),
    ),
    Mutant(
        "released-before-stop",
        "The finalizer is removed before Ray is asked to stop the job.",
        "delete-running",
        (_STOPPED,),
        ReleasedFirst,
    ),
    Mutant(
        "stop-swallowed",
        "Ray is never asked to stop the job.",
        "delete-running",
        (_STOPPED,),
        lambda: Mutation(to_ray("stop"), do.swallowed_stop),
    ),
    Mutant(
        "delete-swallowed",
        "The deletion of the RayCluster is acknowledged and never made.",
        "ttl",
        ("deletions are kept",),
        _write(do.pretended, "delete", "rayclusters"),
    ),
    Mutant(
        "ttl-early",
        "The RayCluster is deleted before its TTL is over.",
        "ttl",
        ("the TTL is kept",),
        _written(do.with_cluster_deleted, **_COMPLETE),
    ),
    Mutant(
        "deleted-without-a-ttl",
        "The RayCluster is deleted although it has no TTL.",
        "http",
        ("what is to stay stays", _SAME_END),
        _written(do.with_cluster_deleted, **_COMPLETE),
    ),
    Mutant(
        "end-time-rewritten",
        "endTime is written a second time, with another time.",
        "k8sjob",
        ("endTime is written once",),
        _written(do.followed(_later), **_COMPLETE),
    ),
    Mutant(
        "success-not-counted",
        "A success is not counted.",
        "k8sjob",
        ("counters count attempts",),
        _written(do.changed(_status(succeeded=0)), **_COMPLETE),
    ),
    Mutant(
        "failure-counted-twice",
        "A failure is counted twice.",
        "app-fails",
        ("counters count attempts",),
        _written(do.changed(_status(failed=2)), jobDeploymentStatus="Failed"),
    ),
    Mutant(
        "reason-made-up",
        "The status of a success has the reason of a failure.",
        "k8sjob",
        ("ends as without a fault",),
        _written(do.changed(_status(reason="AppFailed")), **_COMPLETE),
    ),
    Mutant(
        "success-made-up",
        "The status says SUCCEEDED while the job runs.",
        "delete-running",
        ("jobStatus tells what Ray says",),
        _written(do.changed(_status(jobStatus="SUCCEEDED")), jobStatus="RUNNING"),
    ),
    Mutant(
        "job-status-backwards",
        "jobStatus goes back from RUNNING to PENDING.",
        "delete-running",
        ("status changes are legal",),
        _written(do.followed(_status(jobStatus="PENDING")), jobStatus="RUNNING"),
    ),
    Mutant(
        "suspended-too-early",
        "The status says Suspended while the RayCluster is there.",
        "suspend-resume",
        ("nothing runs while it is Suspended", "status changes are legal"),
        _written(do.changed(_status(jobDeploymentStatus="Suspended")), jobDeploymentStatus="Suspending"),
    ),
    Mutant(
        "owner-lost",
        "The RayCluster is created without its owner.",
        "http",
        (_SAME_END, "reaches its end"),
        _write(do.changed(_no_owner), "create", "rayclusters"),
    ),
    Mutant(
        "dead-operator-writes",
        "A write of an operator that was killed reaches the API server after its death.",
        "k8sjob/create:Job#1@before",
        ("no write by a dead operator",),
        _write(do.raised, "create", "jobs"),
    ),
    Mutant(
        "operator-ends",
        "The operator ends by itself after a write.",
        "k8sjob",
        ("the operator lives on",),
        _write(do.crashed, "create", "jobs"),
    ),
    Mutant(
        "standby-writes",
        "A standby writes although it is not the leader.",
        "k8sjob+failover",
        ("only the leader writes",),
        lambda: Usurped(write("create", "jobs")),
    ),
    Mutant(
        "more-than-without-a-fault",
        "A RayCluster is created twice, and the RayJob deleted while the operator is down.",
        "k8sjob/create:Job#1@committed+delete",
        ("no more than without a fault",),
        _write(do.twice_renamed, "create", "rayclusters"),
    ),
    Mutant(
        "events-repeated",
        "Every Event is recorded twice.",
        "http",
        ("Events tell what happened",),
        lambda: Mutation(write("create", "events"), do.twice_renamed, once=False),
    ),
)
"""Every mutant, in the order of the kill table."""
