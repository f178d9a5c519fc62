"""The ledger: order, queries, and its file."""

from pathlib import Path

import pytest

from kuberay_e2e.ray import Deletion, End, Ledger, Outcome, RayClusterKey, Start, Stop, Submission

A = RayClusterKey("default", "a")
B = RayClusterKey("default", "b")


def submission(outcome: Outcome = Outcome.ACCEPTED, caller: str = "operator") -> Submission:
    return Submission("python main.py", caller, outcome, 200 if outcome is Outcome.ACCEPTED else 500)


def filled(path: Path | None = None) -> Ledger:
    moments = iter(range(100, 200))
    ledger = Ledger(path, clock=lambda: float(next(moments)))
    ledger.record(A, "job-1", submission())
    ledger.record(A, "job-1", Start("python main.py"))
    ledger.record(A, "job-1", submission(Outcome.DUPLICATE, "submitter/pod-2"))
    ledger.record(B, "job-2", submission())
    ledger.record(A, "job-1", Stop("operator", stopped=True, status_code=200))
    ledger.record(A, "job-1", End("STOPPED"))
    ledger.record(A, "job-1", Deletion("operator", deleted=True, status_code=200))
    return ledger


def test_entries_are_numbered_and_timed_in_order() -> None:
    entries = filled().entries

    assert [entry.sequence for entry in entries] == list(range(7))
    assert [entry.time for entry in entries] == [100.0 + number for number in range(7)]


def test_queries_by_submission_id() -> None:
    ledger = filled()

    assert [entry.sequence for entry in ledger.submissions("job-1")] == [0, 2]
    assert [entry.sequence for entry in ledger.accepted("job-1")] == [0]
    assert [entry.sequence for entry in ledger.duplicates("job-1")] == [2]
    assert [entry.sequence for entry in ledger.starts("job-1")] == [1]
    assert [entry.sequence for entry in ledger.stops("job-1")] == [4]
    assert [entry.event.status for entry in ledger.ends("job-1")] == ["STOPPED"]
    assert [entry.sequence for entry in ledger.deletions("job-1")] == [6]


def test_queries_over_all_jobs() -> None:
    ledger = filled()

    assert [entry.submission_id for entry in ledger.accepted()] == ["job-1", "job-2"]
    assert ledger.submissions("unheard-of") == ()


def test_running_is_what_started_and_did_not_end() -> None:
    ledger = Ledger()
    ledger.record(A, "job-1", Start("x"))
    ledger.record(B, "job-2", Start("x"))
    assert ledger.running(A) == ("job-1",)

    ledger.record(A, "job-1", End("SUCCEEDED", 0))
    assert ledger.running(A) == ()
    assert ledger.running(B) == ("job-2",)


def test_time_can_be_given() -> None:
    assert Ledger().record(A, "job-1", Start("x"), at=12.5).time == 12.5


def test_file_holds_every_entry_as_it_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run" / "ledger.jsonl"
    ledger = filled(path)

    assert len(path.read_text().splitlines()) == 7
    assert Ledger.load(path).entries == ledger.entries


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "{}",
        '{"kind": "Party", "sequence": 0}',
        '{"kind": "Start", "sequence": 0, "time": 1, "cluster": {}}',
    ],
)
def test_file_of_something_else_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path)
    path.write_text(path.read_text() + line + "\n")

    with pytest.raises(ValueError, match=r"ledger\.jsonl, line 8: "):
        Ledger.load(path)
