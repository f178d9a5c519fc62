"""The entrypoint itself says how often it ran, and whether the RayJob's status agrees."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from kuberay_e2e.clusterfaults import workload
from kuberay_e2e.clusterfaults.executions import RELEASE, Execution, nodes_of, parse
from kuberay_e2e.clusterfaults.trial import starts_finding, truth_finding
from kuberay_e2e.clusters import Cluster
from kuberay_e2e.errors import HarnessError

ENDED = Execution("head-a", 10.0, 30.0, True)
BROKEN_OFF = Execution("head-a", 10.0, 18.0, False)
SUCCEEDED = {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}
FAILED = {"jobDeploymentStatus": "Failed", "jobStatus": "RUNNING", "reason": "SubmissionFailed"}


def test_runs_are_told_apart_and_ordered_by_their_start() -> None:
    text = "b head-b start 40.5\na head-a start 10\na head-a beat 18\nb head-b beat 41\nb head-b end 42\n"
    assert parse(text) == [BROKEN_OFF, Execution("head-b", 40.5, 42.0, True)]
    assert parse("") == []


def test_a_line_of_another_form_is_refused() -> None:
    with pytest.raises(HarnessError, match="'Traceback'"):
        parse("Traceback\n")


def test_a_run_is_over_when_it_ended_or_fell_silent() -> None:
    assert BROKEN_OFF.runs(19.0)
    assert not BROKEN_OFF.runs(60.0)
    assert not ENDED.runs(30.5)


def test_tasks_on_workers_are_counted_for_the_run_that_started_them() -> None:
    text = "a head-a start 10\na worker-a task 12\na worker-a beat 13\na worker-b task 20\na head-a end 30\n"
    assert parse(text) == [Execution("head-a", 10.0, 30.0, True, tasks=2)]


def test_the_entrypoint_writes_what_is_parsed_and_ends_when_it_is_released(tmp_path: Path) -> None:
    code = workload.code().replace("/runs/", f"{tmp_path}/")
    process = subprocess.Popen([sys.executable, "-c", code, "0.1"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(1.5)
        [run] = parse("".join(file.read_text() for file in tmp_path.iterdir()))
        assert run.runs(time.time())
        (tmp_path / RELEASE).touch()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
    [run] = parse("".join(file.read_text() for file in tmp_path.iterdir()))
    assert run.ended


@pytest.mark.parametrize(
    ("runs", "allowed", "held"),
    [
        ([ENDED], (1, 1), True),
        ([BROKEN_OFF, ENDED], (1, 1), False),
        ([], (1, 1), False),
        ([], (0, 0), True),
    ],
)
def test_starts_are_counted(runs: list[Execution], allowed: tuple[int, int], held: bool) -> None:
    found = starts_finding(runs, allowed)
    assert found.held is held
    assert found.seen.startswith(f"{len(runs)} starts")


@pytest.mark.parametrize(
    ("status", "runs", "held", "seen"),
    [
        (SUCCEEDED, [ENDED], True, "come to its end"),
        (FAILED, [ENDED], False, "come to its end"),
        (SUCCEEDED, [BROKEN_OFF], False, "broken off"),
        (FAILED, [BROKEN_OFF], True, "broken off"),
        (FAILED, [Execution("head-a", 10.0, 41.0, False)], False, "still ran"),
        (FAILED, [], True, "never started"),
        (SUCCEEDED, [], False, "never started"),
        (SUCCEEDED, [BROKEN_OFF, ENDED], True, "come to its end"),
    ],
)
def test_a_status_is_compared_with_the_last_run(
    status: dict[str, str], runs: list[Execution], held: bool, seen: str
) -> None:
    found = truth_finding(40.0, status, runs)
    assert found.held is held
    assert seen in found.seen


def test_a_cluster_without_access_to_its_nodes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="Use --cluster kind"):
        nodes_of(Cluster("embedded", tmp_path / "kubeconfig", simulated_pods=True))
