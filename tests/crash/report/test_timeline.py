"""A timeline shows every kind of event in its lane."""

from pathlib import Path

import pytest

from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.report.evidence import Evidence, read
from kuberay_e2e.crash.report.lanes import Lane, Shape, Tone
from kuberay_e2e.crash.report.timeline import Timeline, timeline
from kuberay_e2e.trace import Trace
from tests.crash.report.sweeps import record


def of(folder: Path, point: str, *, starts: int = 1) -> Timeline:
    record(folder, parse(point), starts=starts)
    found = timeline(read(folder))
    assert found is not None
    return found


def lane(found: Timeline, name: str) -> Lane:
    return next(lane for lane in found.lanes if lane.name == name)


def test_a_kill_ends_an_incarnation_and_the_next_one_begins(tmp_path: Path) -> None:
    found = of(tmp_path, "http/create:RayCluster~job-*#1@committed+down=3")
    first, second = lane(found, "operator").bars
    assert (first.killed, second.killed) == (True, False)
    assert first.end == pytest.approx(found.fault or 0.0)
    assert second.start == pytest.approx(first.end + 4)
    assert second.end == pytest.approx(found.seconds)


@pytest.mark.parametrize(
    ("position", "shape", "answer"),
    [
        ("before", Shape.CROSS, "not forwarded"),
        ("committed", Shape.RING, "200, the answer was withheld"),
        ("after", Shape.DOT, "200"),
    ],
)
def test_a_write_is_drawn_by_its_answer(tmp_path: Path, position: str, shape: Shape, answer: str) -> None:
    found = of(tmp_path, f"http/create:RayCluster~job-*#1@{position}")
    [mark] = lane(found, "writes RayCluster").marks
    assert (mark.shape, mark.fault) == (shape, True)
    assert mark.text == f"create:RayCluster#1 job-*: {answer}"


def test_a_refused_write_says_what_the_api_server_said(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.jsonl")
    request = trace.add("request", incarnation=1, write="create:Job#1", name="job")
    trace.add("response", of=request.sequence, status=409, delivered=True, message="already exists")
    trace.add("request", incarnation=1, write="create:Job#2", name="job", refused="the incarnation is dead")
    trace.close()
    found = timeline(read(tmp_path))
    assert found is not None
    assert [(mark.shape, mark.text) for mark in lane(found, "writes others").marks] == [
        (Shape.DIAMOND, "create:Job#1 job: 409 already exists"),
        (Shape.CROSS, "create:Job#2 job: not forwarded, the incarnation is dead"),
    ]


@pytest.mark.parametrize(
    ("write", "name"),
    [
        ("deletecollection:Pod#1", "writes others"),
        ("update:RayJob/status:jobStatus=RUNNING#1", "writes RayJob"),
        ("update:RayJob:+ray.io/rayjob-finalizer#1", "writes RayJob"),
        ("create:RayCluster#2", "writes RayCluster"),
        ("submit:RayJobs#1", "calls to Ray"),
        ("create:RayService#1", "writes others"),
    ],
)
def test_every_write_has_its_lane(tmp_path: Path, write: str, name: str) -> None:
    trace = Trace(tmp_path / "trace.jsonl")
    trace.add("request", incarnation=1, write=write, name="job")
    trace.close()
    found = timeline(read(tmp_path))
    assert found is not None
    assert [lane.name for lane in found.lanes] == [name]


def test_the_status_of_the_rayjob_is_a_band(tmp_path: Path) -> None:
    found = of(tmp_path, "http")
    states = [bar.label for bar in lane(found, "jobDeploymentStatus").bars]
    assert states == ["New", "Initializing", "Running", "Complete"]
    assert [bar.label for bar in lane(found, "jobStatus").bars] == ["none", "RUNNING", "SUCCEEDED"]


def test_objects_live_from_their_creation_to_their_deletion(tmp_path: Path) -> None:
    found = of(tmp_path, "http")
    assert [bar.label for bar in lane(found, "Pod head").bars] == ["Pending", "Running"]
    assert [bar.label for bar in lane(found, "RayCluster job-x7k2p").bars] == ["", "ready"]
    assert lane(found, "Pod head").bars[-1].end == pytest.approx(found.seconds)


def test_the_ledger_has_a_lane_for_each_job(tmp_path: Path) -> None:
    found = lane(of(tmp_path, "http", starts=2), "Ray job-4tqxm")
    assert [mark.shape for mark in found.marks] == [Shape.DOT, Shape.DOT]
    assert [(bar.label, bar.tone) for bar in found.bars] == [("runs", Tone.RUNNING), ("SUCCEEDED", Tone.GOOD)]


def test_all_of_it_is_told_in_words_in_order(tmp_path: Path) -> None:
    notes = of(tmp_path, "http/create:RayCluster~job-*#1@before").notes
    assert [note.at for note in notes] == sorted(note.at for note in notes)
    said = [note.text for note in notes]
    assert "create:RayCluster~job-*#1@before" in said
    assert "incarnation 1 killed" in said
    assert "job-4tqxm in job-x7k2p: the entrypoint starts" in said
    assert "RayJob job Complete, SUCCEEDED" in said


def test_what_the_operator_was_told_is_shown_on_demand(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.jsonl", clock=iter([0.0, 1.0, 2.0]).__next__)
    trace.add("operator", event="started", incarnation=1)
    trace.add("watch", incarnation=1, event="MODIFIED", resource="rayjobs", name="job")
    trace.add("watch", incarnation=1, event="ADDED", resource="pods", name="job-head")
    trace.close()
    evidence = read(tmp_path)
    without, found = timeline(evidence), timeline(evidence, watches=True)
    assert without is not None
    assert found is not None
    assert [one.name for one in without.lanes] == ["operator"]
    assert [one.name for one in found.lanes] == ["operator", "told of pods", "told of rayjobs"]
    assert [mark.text for mark in lane(found, "told of rayjobs").marks] == [
        "incarnation 1 is told: MODIFIED rayjobs job"
    ]


def test_two_operators_at_a_time_have_a_lane_each(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.jsonl", clock=iter([0.0, 1.0, 5.0, 9.0]).__next__)
    trace.add("operator", event="started", incarnation=1, version="1.6.2")
    trace.add("operator", event="started", incarnation=2, version="1.6.2")
    trace.add("operator", event="killed", incarnation=1)
    trace.add("operator", event="stopped", incarnation=2)
    trace.close()
    found = timeline(read(tmp_path))
    assert found is not None
    assert [found_lane.name for found_lane in found.lanes] == ["operator #1", "operator #2"]


def test_nothing_recorded_has_no_timeline() -> None:
    assert timeline(Evidence((), ())) is None
