"""A wait ends when the goal is reached, at once on a failure, and otherwise in time with what was seen last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest

from kuberay_model.outcome import Kind, Outcome
from kuberay_model.waiter import (
    RayJob,
    RayJobFailedError,
    RayJobGoneError,
    WaitError,
    WaitGoal,
    WaitTimeoutError,
    wait,
    wait_async,
)


def seen(deployment: str, job: str = "", uid: str = "1", **status: Any) -> RayJob:
    fields = {"jobDeploymentStatus": deployment, "jobStatus": job, **status}
    return {"metadata": {"name": "train", "uid": uid}, "status": fields}


NEW, READY, RUNS = seen(""), seen("Initializing"), seen("Running", "RUNNING")
SUCCEEDED = seen("Complete", "SUCCEEDED")
FAILED = seen("Failed", "FAILED", reason="AppFailed", message="exit code 1")
QUEUED = seen("Suspended")
RETRIES = seen("Retrying", "FAILED")


@dataclass
class Recorded:
    """Shows what was recorded, one look a second, and the last of it for ever."""

    looks: Sequence[RayJob | None]
    lines: Sequence[str] = ()
    time: float = 0.0
    asked: list[int] = field(default_factory=list)

    def rayjob(self) -> RayJob | None:
        return self.looks[min(int(self.time), len(self.looks) - 1)]

    def log(self, lines: int) -> Sequence[str]:
        self.asked.append(lines)
        return self.lines[-lines:]

    def pass_by(self, seconds: float) -> None:
        self.time += seconds


def wait_for(goal: WaitGoal, *looks: RayJob | None, timeout: float = 60, log: Sequence[str] = ()) -> Outcome:
    recorded = Recorded(looks, log)
    return wait(
        recorded, goal, timeout_seconds=timeout, log_lines=2, clock=lambda: recorded.time, sleep=recorded.pass_by
    )


def test_a_job_that_succeeds_is_finished() -> None:
    assert wait_for(WaitGoal.FINISHED, NEW, READY, RUNS, SUCCEEDED).succeeded


def test_a_job_that_succeeds_at_its_second_attempt_is_finished() -> None:
    assert wait_for(WaitGoal.FINISHED, RUNS, RETRIES, NEW, RUNS, SUCCEEDED).succeeded


@pytest.mark.parametrize("submitted", [seen("Running", "PENDING"), RUNS, SUCCEEDED, RETRIES])
def test_a_job_is_submitted_when_ray_has_it(submitted: RayJob) -> None:
    assert wait_for(WaitGoal.SUBMITTED, NEW, READY, submitted).kind is not Kind.NEW


@pytest.mark.parametrize("goal", list(WaitGoal))
@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (FAILED, "failed with reason AppFailed: exit code 1"),
        (seen("ValidationFailed", message="name too long"), "is invalid .*: name too long"),
        (seen("Complete", "STOPPED"), "was stopped"),
        (seen("Complete", ""), "no success"),
    ],
)
def test_a_failure_ends_the_wait_at_once(goal: WaitGoal, end: RayJob, sentence: str) -> None:
    with pytest.raises(RayJobFailedError, match=sentence) as error:
        wait_for(goal, NEW, end, SUCCEEDED)
    assert error.value.outcome is not None and error.value.outcome.terminal


def test_a_failure_shows_the_end_of_the_submitter_s_log() -> None:
    with pytest.raises(RayJobFailedError) as error:
        wait_for(WaitGoal.FINISHED, RUNS, FAILED, log=["first", "Traceback", "KeyError: 'a'"])

    assert str(error.value).splitlines() == [
        "RayJob train failed with reason AppFailed: exit code 1. The submitter's log ends with:",
        "  Traceback",
        "  KeyError: 'a'",
    ]


@pytest.mark.parametrize("looks", [[None], [RUNS, None]])
def test_a_job_that_is_gone_ends_the_wait(looks: list[RayJob | None]) -> None:
    with pytest.raises(RayJobGoneError, match="gone, and so is how it ended; it was to be finished"):
        wait_for(WaitGoal.FINISHED, *looks)


def test_another_job_of_the_same_name_is_not_waited_for() -> None:
    with pytest.raises(RayJobGoneError, match="another one has its name"):
        wait_for(WaitGoal.FINISHED, RUNS, seen("Complete", "SUCCEEDED", uid="2"))


def test_time_runs_out_with_what_was_seen_last() -> None:
    with pytest.raises(WaitTimeoutError, match=r"is suspended until .* It was to be submitted within 60 s\.") as error:
        wait_for(WaitGoal.SUBMITTED, NEW, QUEUED)
    assert error.value.outcome is not None and error.value.outcome.kind is Kind.QUEUED


def test_a_job_that_is_stuck_is_told_when_time_runs_out() -> None:
    with pytest.raises(WaitTimeoutError, match="has been so for 199 s; check that the operator runs") as error:
        wait_for(WaitGoal.FINISHED, READY, NEW, timeout=200)
    assert error.value.outcome is not None and error.value.outcome.kind is Kind.STUCK


def test_the_log_is_read_once_and_only_for_an_error() -> None:
    fine, bad = Recorded([SUCCEEDED]), Recorded([FAILED])
    wait(fine, WaitGoal.FINISHED, timeout_seconds=1)
    with pytest.raises(WaitError):
        wait(bad, WaitGoal.FINISHED, timeout_seconds=1, log_lines=5)
    assert (fine.asked, bad.asked) == ([], [5])


@dataclass
class Later:
    """The same as `Recorded`, one look at a time, asynchronously."""

    looks: list[RayJob | None]

    async def rayjob(self) -> RayJob | None:
        return self.looks.pop(0)

    async def log(self, lines: int) -> Sequence[str]:
        return ["the end"][-lines:]


def test_a_wait_can_be_asynchronous() -> None:
    def run(*looks: RayJob | None) -> Outcome:
        coroutine = wait_async(Later([*looks]), WaitGoal.FINISHED, timeout_seconds=5, pause_seconds=0)
        with closing(asyncio.new_event_loop()) as loop:
            return loop.run_until_complete(coroutine)

    assert run(NEW, RUNS, SUCCEEDED).succeeded
    with pytest.raises(RayJobFailedError, match="the end"):
        run(RUNS, FAILED)
