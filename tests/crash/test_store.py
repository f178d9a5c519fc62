"""What a sweep keeps can be read back, and an interrupted sweep goes on where it was."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_e2e.crash.difference import EndState
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.store import Result, SweepFolder, file_name, missing
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway.faults import parse as parse_fault
from kuberay_e2e.verdicts import Finding

POINT = parse("k8sjob/create:Pod~job-*-head-*#1@committed+down=35")
RESULT = Result(POINT, "1.6.2", 12.5, (Finding("counters count attempts", False, "1", "0"),), spans={"goal": 3.5})


def test_results_are_read_back(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path / "sweep")
    assert folder.results() == []
    folder.keep(RESULT)
    assert folder.results() == [RESULT]
    assert (RESULT.held, [finding.promise for finding in RESULT.broken]) == (False, ["counters count attempts"])


def test_the_last_result_of_a_point_counts(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path)
    folder.keep(Result(POINT, "1.6.2", 1.0, (), "the control plane died"))
    folder.keep(RESULT)
    assert folder.results() == [RESULT]


def test_a_line_that_was_cut_off_by_a_kill_is_left_out(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path)
    folder.keep(RESULT)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"point": "k8sjob/create')
    assert folder.results() == [RESULT]


def test_a_sweep_goes_on_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path)
    folder.keep(RESULT)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"point": "k8sjob/create')
    later = replace(RESULT, point=parse("k8sjob/create:Job#1@lost"))
    folder.keep(later)
    assert folder.results() == [RESULT, later]


def test_a_foreign_line_is_refused_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(InputError, match=r"line 1 of .*results.jsonl to be a result"):
        SweepFolder(tmp_path).results()


def test_what_was_learned_is_kept_by_version(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path)
    write = parse_fault("update:RayJob/status~job:jobStatus=RUNNING").write
    end = EndState({"RayJob job status.jobStatus": ("SUCCEEDED",)}, ("Pod job-* phase",))
    learned = Learned("k8sjob", 3, (write,), {"create:Job#2": "made in 1 of 3 runs"}, end)
    folder.keep_learned("1.5.1", {"http": Learned("http", 3, (), {})})
    folder.keep_learned("1.6.2", {"k8sjob": learned})
    assert folder.learned("1.6.2") == {"k8sjob": learned}
    assert set(folder.learned("1.5.1")) == {"http"}
    assert folder.learned("1.7.0") == {}


def test_what_was_learned_before_end_states_were_is_read_without_one(tmp_path: Path) -> None:
    entry = {"scenario": "k8sjob", "runs": 3, "writes": [], "unstable": {}}
    (tmp_path / "learned.json").write_text(json.dumps({"1.6.2": {"k8sjob": entry}}))
    assert SweepFolder(tmp_path).learned("1.6.2")["k8sjob"].end == EndState()


def test_a_foreign_file_of_learned_writes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "learned.json").write_text('{"1.6.2": {"k8sjob": []}}')
    with pytest.raises(InputError, match="to be what a sweep has learned"):
        SweepFolder(tmp_path).learned("1.6.2")


def test_runs_that_failed_are_run_again_and_others_are_not() -> None:
    done, failed, left = (parse(f"k8sjob/create:Job#{number}@lost") for number in (1, 2, 3))
    results = [Result(done, "1.6.2", 1.0, ()), Result(failed, "1.6.2", 1.0, (), "the disk was full")]
    assert missing([done, failed, left], results, "1.6.2") == [failed, left]
    assert missing([done], results, "1.5.1") == [done]


def test_folders_have_names_that_archives_take() -> None:
    assert file_name(POINT) == "k8sjob_create_Pod_job-_-head-__1_committed+down=35"


def test_files_of_a_run_are_kept_without_credentials(tmp_path: Path) -> None:
    source = tmp_path / "slot"
    (source / "operator").mkdir(parents=True)
    (source / "trace.jsonl").write_text("{}\n")
    (source / "operator" / "operator-1.kubeconfig").write_text("secret")
    name = SweepFolder(tmp_path / "sweep").keep_files(POINT, source)
    kept = tmp_path / "sweep" / name
    assert (kept / "trace.jsonl").exists()
    assert not list(kept.rglob("*.kubeconfig"))
