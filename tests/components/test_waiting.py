"""``pulumi up`` waits for what was asked for, and a job that fails fails the update with its own words."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pytest
from coroutines import run_alone
from recording_engine import Run

from kuberay_model.outcome import Outcome
from pulumi_kuberay import ArgumentError, RayJob, RayJobArgs, RayJobError, Wait, WaitGoal, finished, submitted, waiting
from pulumi_kuberay.waiting import judged, wait_annotations, wait_timeouts

RAY_JOB = "kubernetes:ray.io/v1:RayJob"


def rayjob(deployment: str, job: str = "", **status: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "counter", "namespace": "team"},
        "spec": {},
        "status": {"jobDeploymentStatus": deployment, "jobStatus": job, **status},
    }


@pytest.fixture(autouse=True)
def _update(monkeypatch: pytest.MonkeyPatch) -> None:
    async def told(seen: Outcome, _: Mapping[str, Any], __: int) -> tuple[str, Sequence[str]]:
        return seen.sentence, ["KeyError: 'a'"]

    monkeypatch.setattr(waiting, "told", told)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)


def outcome_of(found: dict[str, Any], wait: Wait | None) -> str:
    return run_alone(judged(found, wait))


def test_nothing_is_waited_for_unless_asked(run: Run) -> None:
    engine = run(lambda: RayJob("counter", RayJobArgs(entrypoint="python count.py")))

    assert "annotations" not in engine.one(RAY_JOB)["metadata"]
    assert wait_timeouts(None) is None


def test_the_provider_waits_for_every_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    args = RayJobArgs(entrypoint="python count.py", annotations={"note": "a"}, wait=finished())
    engine = run(lambda: RayJob("counter", args))

    assert engine.one(RAY_JOB)["metadata"]["annotations"] == {
        "note": "a",
        "pulumi.com/waitFor": ("jsonpath={.status[?@ == 'Complete' || @ == 'Failed' || @ == 'ValidationFailed']}"),
    }


def test_a_job_is_submitted_when_ray_knows_it_or_it_has_ended() -> None:
    [expression] = wait_annotations(submitted()).values()

    for value in ("PENDING", "RUNNING", "SUCCEEDED", "STOPPED", "FAILED", "Complete", "Failed", "ValidationFailed"):
        assert f"@ == '{value}'" in expression


def test_a_wait_has_a_time_limit() -> None:
    for wait, seconds in ((finished(), "3600s"), (submitted(timeout_seconds=60), "60s")):
        limits = wait_timeouts(wait)
        assert limits is not None
        assert (limits.create, limits.update, limits.delete) == (seconds, seconds, None)
    with pytest.raises(ArgumentError, match="must be 1 or more, but it is 0"):
        wait_timeouts(Wait(until=WaitGoal.FINISHED, timeout_seconds=0))


@pytest.mark.parametrize(
    ("found", "wait", "kind"),
    [
        (rayjob("Complete", "SUCCEEDED"), finished(), "Succeeded"),
        (rayjob("Running", "RUNNING"), submitted(), "Running"),
        (rayjob("Failed", "FAILED"), None, "Failed"),
        ({"metadata": {"name": "counter"}, "spec": {}, "status": None}, None, "New"),
    ],
)
def test_the_outcome_is_told(found: dict[str, Any], wait: Wait | None, kind: str) -> None:
    assert outcome_of(found, wait) == kind


@pytest.mark.parametrize("wait", [submitted(), finished()])
@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (rayjob("Failed", "FAILED", reason="AppFailed", message="exit code 1"), "reason AppFailed: exit code 1"),
        (rayjob("ValidationFailed", message="name too long"), "is invalid .*: name too long"),
        (rayjob("Complete", "STOPPED"), "was stopped"),
    ],
)
def test_a_job_that_fails_fails_the_update_with_the_end_of_its_log(
    found: dict[str, Any], sentence: str, wait: Wait
) -> None:
    with pytest.raises(RayJobError, match=sentence) as error:
        outcome_of(found, wait)
    assert str(error.value).endswith("The submitter's log ends with:\n  KeyError: 'a'")


def test_a_preview_does_not_fail_for_a_job_that_failed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)

    assert outcome_of(rayjob("Failed", "FAILED"), finished()) == "Failed"
