"""Files of runs are read as far as they are there."""

from pathlib import Path

from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.report.evidence import read, read_ledger
from tests.crash.report.sweeps import record


def test_a_whole_recording_has_no_gap(tmp_path: Path) -> None:
    record(tmp_path, parse("http"))
    evidence = read(tmp_path)
    assert evidence.gap == ""
    assert [type(entry.event).__name__ for entry in evidence.ledger] == ["Submission", "Start", "End"]
    assert evidence.events[0].data == {"event": "started", "incarnation": 1, "version": "1.6.2"}


def test_a_trace_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    record(tmp_path, parse("http"))
    text = (tmp_path / "trace.jsonl").read_text()
    (tmp_path / "trace.jsonl").write_text(text[: len(text) // 2])
    evidence = read(tmp_path)
    assert evidence.events
    assert evidence.gap.startswith(f"trace.jsonl can be read up to line {len(evidence.events)} only: ")


def test_foreign_lines_are_a_gap(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text('[1, 2]\n{"a": 1}\n')
    (tmp_path / "ledger.jsonl").write_text('{"kind": "Payment"}\n')
    evidence = read(tmp_path)
    assert (evidence.events, evidence.ledger) == ((), ())
    assert "trace.jsonl can be read up to line 0 only" in evidence.gap
    assert "ledger.jsonl is not there or not whole." in evidence.gap


def test_a_folder_that_has_gone_is_a_gap(tmp_path: Path) -> None:
    assert read(tmp_path / "gone").gap == "The files of this run are not there any more: gone."
    assert read_ledger(tmp_path / "gone") is None
