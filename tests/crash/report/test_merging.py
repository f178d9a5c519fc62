"""Parts of a sweep that were run apart are one sweep again."""

from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_e2e import samples
from kuberay_e2e.crash.authored import keep, scenario_of
from kuberay_e2e.crash.report import merge, read, write
from kuberay_e2e.errors import InputError
from kuberay_e2e.verdicts import State
from tests.crash.report.sweeps import VERSION, WRITES, Sweep, known, learned


def test_results_and_files_come_together(tmp_path: Path) -> None:
    first, second = Sweep(tmp_path / "1").learn(learned()), Sweep(tmp_path / "2").learn(learned())
    one = first.run("http/create:RayCluster~job-*#1@before")
    two = second.run("http/create:RayCluster~job-*#1@lost")
    merged = merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    assert merged.results() == [one, two]
    assert (tmp_path / "all" / two.folder / "trace.jsonl").exists()
    assert merged.learned(VERSION)["http"].runs == 6
    report = read(merged, known)
    write(report)
    assert len(report.runs) == 2


def test_a_verdict_counts_more_than_an_error(tmp_path: Path) -> None:
    point = "http/create:RayCluster~job-*#1@before"
    Sweep(tmp_path / "1").run(point, error="The control plane died.")
    good = Sweep(tmp_path / "2").run(point)
    Sweep(tmp_path / "3").run(point, error="The disk was full.")
    assert merge([tmp_path / name for name in "123"], tmp_path / "all").results() == [good]


def test_a_write_is_stable_where_all_parts_say_so(tmp_path: Path) -> None:
    Sweep(tmp_path / "1").learn(learned())
    Sweep(tmp_path / "2").learn(learned(writes=WRITES[:-1], **{f"{WRITES[-1]}#1": "made in 2 of 3 runs"}))
    merged = merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all").learned(VERSION)["http"]
    assert [str(write) for write in merged.writes] == [f"{write}#1" for write in WRITES[:-1]]
    assert merged.unstable == {f"{WRITES[-1]}#1": "stable in 1 of 2 parts, made in 2 of 3 runs in another"}


def test_a_target_with_something_in_it_is_refused(tmp_path: Path) -> None:
    Sweep(tmp_path / "1").learn(learned())
    with pytest.raises(InputError, match="to be a new or an empty folder"):
        merge([tmp_path / "1"], tmp_path / "1")


def test_a_folder_that_is_no_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing to be the folder of a sweep"):
        merge([tmp_path / "nothing"], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_rayjob_of_a_users_own_comes_with_its_sweep(tmp_path: Path) -> None:
    scenario = scenario_of(samples.path())
    sweep = Sweep(tmp_path / "1").learn(learned(scenario.name))
    keep(tmp_path / "1", replace(scenario, learns=False))
    sweep.run(f"{scenario.name}/create:RayCluster~job-*#1@lost")
    report = read(merge([tmp_path / "1"], tmp_path / "all"), known)
    assert [run.verdict.state for run in report.runs] == [State.HELD]
    assert [group.sentence.split(" of ")[0] for group in report.groups] == ["Runs the RayJob"]
