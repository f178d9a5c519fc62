"""The sweep on the command line: bad input ends with a sentence before anything is started; reports need no cluster."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kuberay_e2e import cli
from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.verdicts import Finding

Run = Callable[..., tuple[int, str, str]]
HELD = Finding("reaches its end", True, "it did")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["kuberay-e2e", "crash", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code, said = ended.value.code, capsys.readouterr()
        return int(code or 0), said.out, said.err

    return call


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--scenario", "k8s"], "no scenario called 'k8s'"),
        (["run", "--scenario", "absent.yaml"], "absent.yaml"),
        (["run", "--position", "sideways"], "--position as one of before, committed, lost, after"),
        (["run", "--shard", "5/4"], "--shard as I/N with I from 1 to N"),
        (["run", "--shard", "2"], "--shard as I/N with I from 1 to N"),
        (["run", "--time-budget", "5"], "--time-budget as a number of seconds or minutes"),
        (["plan", "--time-budget", "5m"], "No such option"),
        (["replay", "k8sjob/create:Job"], "Expected a run as SCENARIO/WRITE@POSITION"),
        (["replay", "k8s/create:Job@before"], "no scenario called 'k8s'"),
        (["fidelity", "here", "there"], "in common; they have none"),
        (["report", "here"], "here"),
    ],
)
def test_bad_input_starts_nothing(run: Run, arguments: list[str], sentence: str, tmp_path: Path) -> None:
    code, _, said = run(*arguments)
    assert code == 2
    assert sentence in said
    assert not (tmp_path / "state" / "pulumi-kuberay" / "runs").exists()


def sweep(path: Path, point: str, *findings: Finding) -> SweepFolder:
    folder = SweepFolder(path)
    folder.keep(Result(parse(point), "1.6.2", 8.0, findings))
    return folder


def test_the_parts_of_a_sweep_come_together_in_one_report(run: Run, tmp_path: Path) -> None:
    sweep(tmp_path / "1", "http/create:RayCluster@before", HELD)
    sweep(tmp_path / "2", "http/create:RayCluster@lost", HELD)
    target, record = tmp_path / "whole", tmp_path / "record.md"
    code, said, _ = run(
        "report", str(tmp_path / "1"), str(tmp_path / "2"), "--report", str(target), "--track-record", str(record)
    )
    assert (code, said) == (0, f"Report: {target / 'index.html'}\n")
    page = (target / "index.html").read_text()
    assert "http/create:RayCluster#1@before" in page
    assert "http/create:RayCluster#1@lost" in page
    assert "1.6.2" in record.read_text()


def test_a_report_of_a_sweep_that_did_not_hold_says_so_by_its_exit_code(run: Run, tmp_path: Path) -> None:
    folder = sweep(tmp_path, "http/create:RayCluster@before", Finding("reaches its end", False, "it did not"))
    assert run("report", "--report", str(folder.path))[0] == 1


def test_a_sweep_that_is_begun_afresh_forgets_what_was_run(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    folder = sweep(tmp_path / "sweep", "http/create:RayCluster@before", HELD)
    folder.keep_files(parse("http"), tmp_path / "files")
    folder.clear()
    assert not folder.is_sweep
    assert folder.results() == []
    assert not (folder.path / "runs").exists()


def test_every_scenario_is_told_with_a_sentence(run: Run) -> None:
    code, said, _ = run("scenarios")
    assert code == 0
    assert "k8sjob               Runs to completion" in said
