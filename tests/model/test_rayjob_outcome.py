"""One value from a RayJob's status; only SUCCEEDED is success."""

from __future__ import annotations

from typing import Any

import pytest

from kuberay_model.outcome import Kind, Outcome, outcome, stuck
from kuberay_model.states import JobDeploymentStatus, JobStatus


def read(deployment: str = "", job: str = "", *, suspend: bool = False, **status: str) -> Outcome:
    fields = {"jobDeploymentStatus": deployment, "jobStatus": job, **status}
    return outcome({"metadata": {"name": "train"}, "spec": {"suspend": suspend}, "status": fields})


@pytest.mark.parametrize(
    ("deployment", "job", "kind", "terminal"),
    [
        ("", "", Kind.NEW, False),
        ("Initializing", "", Kind.INITIALIZING, False),
        ("Waiting", "", Kind.WAITING, False),
        ("Running", "", Kind.RUNNING, False),
        ("Running", "PENDING", Kind.RUNNING, False),
        ("Running", "SUCCEEDED", Kind.RUNNING, False),
        ("Complete", "SUCCEEDED", Kind.SUCCEEDED, True),
        ("Complete", "STOPPED", Kind.STOPPED, True),
        ("Complete", "RUNNING", Kind.FAILED, True),
        ("Failed", "FAILED", Kind.FAILED, True),
        ("Failed", "", Kind.FAILED, True),
        ("Failed", "SUCCEEDED", Kind.FAILED, True),
        ("Retrying", "FAILED", Kind.RETRYING, False),
        ("Suspending", "RUNNING", Kind.QUEUED, False),
        ("Suspended", "", Kind.QUEUED, False),
        ("ValidationFailed", "", Kind.INVALID, True),
    ],
)
def test_every_status_has_an_outcome(deployment: str, job: str, kind: Kind, terminal: bool) -> None:
    result = read(deployment, job)
    assert (result.kind, result.terminal) == (kind, terminal)
    assert result.succeeded == (kind is Kind.SUCCEEDED)
    assert result.sentence.startswith("RayJob train ") and result.sentence.endswith(".")


@pytest.mark.parametrize("deployment", list(JobDeploymentStatus))
@pytest.mark.parametrize("job", list(JobStatus))
def test_success_needs_both_statuses(deployment: JobDeploymentStatus, job: JobStatus) -> None:
    result = read(deployment, job)
    assert result.succeeded == (deployment == "Complete" and job == "SUCCEEDED")
    assert result.terminal == deployment.terminal


@pytest.mark.parametrize("deployment", ["", "Initializing"])
def test_a_suspended_rayjob_is_queued_before_the_operator_says_so(deployment: str) -> None:
    assert read(deployment, suspend=True).kind is Kind.QUEUED


def test_a_failure_names_reason_and_message() -> None:
    result = read("Failed", "FAILED", reason="AppFailed", message="exit code 1.\n")
    assert (result.reason, result.message) == ("AppFailed", "exit code 1.\n")
    assert result.sentence == "RayJob train failed with reason AppFailed: exit code 1."


def test_an_invalid_rayjob_has_to_be_created_anew() -> None:
    result = read("ValidationFailed", reason="ValidationFailed", message="name too long")
    assert result.sentence == (
        "RayJob train is invalid and stays so even if its spec is mended; delete it and create it anew: name too long."
    )


@pytest.mark.parametrize(
    "status", [{"jobDeploymentStatus": "Odd"}, {"jobStatus": "DONE", "jobDeploymentStatus": "Complete"}]
)
def test_an_unknown_status_is_no_success(status: dict[str, str]) -> None:
    result = outcome({"status": status})
    assert result.kind is Kind.UNKNOWN and not result.succeeded and not result.terminal
    assert result.sentence.startswith("The RayJob has the unknown status ")


@pytest.mark.parametrize("rayjob", [{}, {"status": None}, {"status": []}, {"metadata": None, "spec": None}])
def test_a_rayjob_without_status_is_new(rayjob: dict[str, Any]) -> None:
    assert outcome(rayjob).kind is Kind.NEW


def rayjob(deployment: str, job: str = "", **status: Any) -> dict[str, Any]:
    fields = {"jobDeploymentStatus": deployment, "jobStatus": job, **status}
    return {"metadata": {"name": "train"}, "status": fields}


@pytest.mark.parametrize(
    ("deployment", "job", "patience"),
    [
        ("", "", 120),
        ("Initializing", "", 1800),
        ("Retrying", "FAILED", 600),
        ("Suspending", "RUNNING", 600),
        ("Running", "SUCCEEDED", 420),
    ],
)
def test_a_status_that_should_pass_is_stuck_after_a_while(deployment: str, job: str, patience: float) -> None:
    seen = rayjob(deployment, job)

    assert stuck(seen, patience) == outcome(seen)
    late = stuck(seen, patience + 1)
    assert late.kind is Kind.STUCK and not late.terminal
    assert late.sentence.startswith(outcome(seen).sentence.rstrip("."))
    assert f"has been so for {patience + 1} s; " in late.sentence


@pytest.mark.parametrize(
    ("deployment", "job"),
    [
        ("Waiting", ""),
        ("Suspended", ""),
        ("Running", "RUNNING"),
        ("Running", ""),
        ("Complete", "SUCCEEDED"),
        ("Failed", "FAILED"),
        ("Odd", ""),
    ],
)
def test_what_may_take_for_ever_or_is_over_is_never_stuck(deployment: str, job: str) -> None:
    assert stuck(rayjob(deployment, job), 1e9).kind is not Kind.STUCK


@pytest.mark.parametrize("deployment", ["", "Initializing"])
def test_a_rayjob_in_a_queue_is_never_stuck(deployment: str) -> None:
    assert stuck({"spec": {"suspend": True}, **rayjob(deployment)}, 1e9).kind is Kind.QUEUED


def test_a_cluster_that_is_not_ready_says_why() -> None:
    head = {"type": "HeadPodReady", "status": "False", "reason": "ErrImagePull", "message": "no such image"}
    seen = outcome(rayjob("Initializing", rayClusterStatus={"conditions": [head]}))

    assert (seen.kind, seen.reason) == (Kind.INITIALIZING, "ErrImagePull")
    assert seen.sentence.endswith("to become ready with reason ErrImagePull: no such image.")


@pytest.mark.parametrize(
    "cluster", [None, {}, {"conditions": None}, {"conditions": [None, {"type": "HeadPodReady", "status": "True"}]}]
)
def test_a_cluster_that_says_nothing_is_waited_for(cluster: Any) -> None:
    assert outcome(rayjob("Initializing", rayClusterStatus=cluster)).reason == ""
