"""The transitions that the operator makes, and no others."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kuberay_model.states import (
    NOT_RETRIED,
    TRANSITIONS,
    JobDeploymentStatus,
    JobStatus,
    Reason,
    job_status_legal,
    legal,
)

PATHS = {
    "success": ["", "Initializing", "Running", "Complete"],
    "interactive": ["", "Initializing", "Waiting", "Running", "Complete"],
    "retry": ["", "Initializing", "Running", "Retrying", "", "Initializing", "Running", "Failed"],
    "deadline before running": ["", "Initializing", "Failed"],
    "retry before running": ["", "Initializing", "Retrying", ""],
    "nobody submits": ["", "Initializing", "Waiting", "Failed"],
    "suspend and resume": ["", "Initializing", "Suspending", "Suspended", "", "Initializing"],
    "suspend while running": ["Running", "Suspending", "Suspended"],
    "edited after the end": ["Running", "Complete", "ValidationFailed"],
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_a_life_is_legal(path: list[str]) -> None:
    assert all(legal(before, after) for before, after in pairwise(path))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "Running"),
        ("Initializing", ""),
        ("Initializing", "Complete"),
        ("Waiting", "Suspending"),
        ("Waiting", "Retrying"),
        ("Running", "Initializing"),
        ("Running", ""),
        ("Running", "Suspended"),
        ("Suspending", ""),
        ("Suspending", "Running"),
        ("Suspended", "Initializing"),
        ("Retrying", "Initializing"),
        ("Retrying", "Failed"),
        ("Failed", "Retrying"),
        ("Complete", "Failed"),
        ("Failed", "Complete"),
        ("ValidationFailed", ""),
    ],
)
def test_a_jump_is_illegal(before: str, after: str) -> None:
    assert not legal(before, after)


@pytest.mark.parametrize("status", list(JobDeploymentStatus))
def test_standing_still_and_becoming_invalid_are_always_legal(status: JobDeploymentStatus) -> None:
    assert legal(status, status)
    assert legal(status, "ValidationFailed")


def test_only_the_end_is_terminal() -> None:
    assert {status for status in JobDeploymentStatus if status.terminal} == {
        "Complete",
        "Failed",
        "ValidationFailed",
    }
    assert {status for status in JobStatus if status.terminal} == {"STOPPED", "SUCCEEDED", "FAILED"}


def test_every_status_has_transitions() -> None:
    assert set(TRANSITIONS) == set(JobDeploymentStatus)
    assert Reason.PRE_RUNNING_DEADLINE_EXCEEDED not in NOT_RETRIED


def test_an_unknown_status_is_an_error() -> None:
    with pytest.raises(ValueError, match="Odd"):
        legal("Odd", "Running")


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        ("", "PENDING", True),
        ("", "RUNNING", True),
        ("", "SUCCEEDED", True),
        ("PENDING", "RUNNING", True),
        ("PENDING", "FAILED", True),
        ("RUNNING", "STOPPED", True),
        ("RUNNING", "RUNNING", True),
        ("RUNNING", "PENDING", False),
        ("RUNNING", "", False),
        ("SUCCEEDED", "FAILED", False),
        ("FAILED", "RUNNING", False),
    ],
)
def test_the_job_status_moves_forward(before: str, after: str, allowed: bool) -> None:
    assert job_status_legal(before, after) is allowed


@pytest.mark.parametrize(("deployment", "allowed"), [("Suspended", True), ("", True), ("Retrying", False)])
def test_the_end_of_an_attempt_clears_the_job_status(deployment: str, allowed: bool) -> None:
    assert job_status_legal("FAILED", "", deployment_status=deployment) is allowed
