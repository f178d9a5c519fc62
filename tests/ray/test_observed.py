"""What Ray's Jobs API and submitters' logs leave is turned into a ledger that the invariants can judge."""

from typing import Any

import pytest

from kuberay_e2e.ray import Ledger, RayClusterKey
from kuberay_e2e.ray.observed import JobsHistory, by_submission_id, has_started, refusals

KEY = RayClusterKey("team", "counter-xrghf")


def job(status: str = "RUNNING", start_time: int = 1000, **more: Any) -> dict[str, Any]:
    return {"submission_id": "id", "status": status, "start_time": start_time, "entrypoint": "python main.py", **more}


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(clock=lambda: 100.0)


@pytest.fixture
def history(ledger: Ledger) -> JobsHistory:
    return JobsHistory(KEY, ledger)


def kinds(ledger: Ledger) -> list[str]:
    return [type(entry.event).__name__ for entry in ledger.entries]


def test_one_submission_that_is_seen_often_is_one(history: JobsHistory, ledger: Ledger) -> None:
    for status in ("PENDING", "PENDING", "RUNNING", "RUNNING", "SUCCEEDED", "SUCCEEDED"):
        history.see({"id": job(status, end_time=5000, driver_exit_code=0)})
    assert kinds(ledger) == ["Submission", "Start", "End"]
    assert [entry.time for entry in ledger.entries] == [1.0, 1.0, 5.0]
    assert (len(ledger.accepted("id")), len(ledger.starts("id")), ledger.ends("id")[0].event.exit_code) == (1, 1, 0)


def test_a_job_that_was_first_seen_at_its_end_was_started(history: JobsHistory, ledger: Ledger) -> None:
    history.see({"id": job("SUCCEEDED", end_time=5000)})
    assert kinds(ledger) == ["Submission", "Start", "End"]


def test_a_job_that_failed_before_its_entrypoint_was_not_started(history: JobsHistory, ledger: Ledger) -> None:
    history.see({"id": job("FAILED", message="runtime_env setup failed", driver_exit_code=None, driver_info=None)})
    assert kinds(ledger) == ["Submission"]


def test_another_start_time_is_another_submission(history: JobsHistory, ledger: Ledger) -> None:
    history.see({"id": job()})
    history.see({"id": job(start_time=9000)})
    assert kinds(ledger) == ["Submission", "Start", "End", "Submission", "Start"]
    assert ledger.ends("id")[0].event.status == "LOST"


def test_a_head_without_its_jobs_has_lost_them(history: JobsHistory, ledger: Ledger) -> None:
    history.see({"id": job()})
    history.see({})
    history.see({"id": job(start_time=9000)})
    assert len(ledger.accepted("id")) == 2


def test_a_head_that_goes_after_the_end_takes_nothing_along(history: JobsHistory, ledger: Ledger) -> None:
    history.see({"id": job("SUCCEEDED", end_time=5000)})
    history.leave()
    assert kinds(ledger) == ["Submission", "Start", "End"]


def test_drivers_that_nobody_submitted_are_left_out() -> None:
    listed = [{"type": "DRIVER", "submission_id": None, "job_id": "01000000"}, job()]
    assert by_submission_id(listed) == {"id": job()}


@pytest.mark.parametrize("answer", [{"kind": "Status", "code": 503}, "text", None])
def test_an_answer_of_another_kind_is_no_empty_list(answer: Any) -> None:
    assert by_submission_id(answer) is None


@pytest.mark.parametrize(
    ("status", "more", "started"),
    [
        ("PENDING", {}, False),
        ("RUNNING", {}, True),
        ("FAILED", {"driver_exit_code": 1}, True),
        ("STOPPED", {"driver_info": {"id": "02000000"}}, True),
        ("STOPPED", {}, False),
    ],
)
def test_when_an_entrypoint_has_started(status: str, more: dict[str, Any], started: bool) -> None:
    assert has_started(job(status, **more)) is started


def test_a_submitters_log_tells_of_a_refusal_once() -> None:
    line = (
        "RuntimeError: Request failed with status code 500: ValueError: Job with submission_id counter-f7qrj already "
    )
    log = f"{line}exists. Please use a different submission_id.\n{line}exists. Please use a different submission_id.\n"
    assert refusals(log) == ["counter-f7qrj"]


def test_a_good_submitters_log_tells_of_none() -> None:
    assert refusals("Job 'counter-f7qrj' submitted successfully\ntest_counter got 1\n") == []
