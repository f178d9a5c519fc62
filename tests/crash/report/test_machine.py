"""The report for programs and for the summary of a CI job."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from kuberay_e2e.crash.report import read, write
from tests.crash.report.sweeps import STARTS, Sweep, known, learned


def test_a_run_is_a_test_case(tmp_path: Path) -> None:
    write(read(Sweep(tmp_path).all_states().folder, known))
    suite = ET.parse(tmp_path / "junit.xml").getroot()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "17",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    [skipped] = suite.findall(".//skipped")
    assert (skipped.get("message") or "").startswith("Known deviation submits-twice. ")
    [failure] = suite.findall(".//failure")
    assert "Replay: kuberay-e2e crash replay 'http/create:RayCluster~job-*#1@lost'" in (failure.text or "")


def test_what_xml_cannot_hold_does_not_break_it(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    sweep.run("http", error="\x1b[31mpanic\x00 ]]> <&\ud800")
    write(read(sweep.folder, known))
    [error] = ET.parse(tmp_path / "junit.xml").getroot().iter("error")
    assert error.get("message") == "?[31mpanic? ]]> <&?"


def test_all_of_it_is_there_as_json(tmp_path: Path) -> None:
    write(read(Sweep(tmp_path).all_states().folder, known))
    data: dict[str, Any] = json.loads((tmp_path / "result.json").read_text())
    assert data["counts"] == {"held": 14, "deviates": 1, "violated": 1, "error": 1}
    assert data["exit_code"] == 3
    assert len(data["runs"]) == 17
    [scenario] = data["scenarios"]
    assert scenario["unstable"] == {"create:Pod~job-*-workers-worker-*#2": "made in 2 of 3 runs"}
    assert scenario["coverage"]["pairs"] == 6 * 9
    assert scenario["matrix"]["create:RayCluster~job-*#1"]["lost"]["mark"] == "violated"
    assert scenario["entrypoint"]["lost"]["ran"] == "at least once"
    [deviation] = data["deviations"]
    assert (deviation["concerned"], deviation["run_seconds_until_found"]) == (1, 182.5)
    run = next(run for run in data["runs"] if run["state"] == "deviates")
    assert (run["position"], run["deviations"], run["entrypoint_starts"]) == ("lost", ["submits-twice"], 2)


def test_the_summary_names_what_is_to_be_looked_at(tmp_path: Path) -> None:
    write(read(Sweep(tmp_path).all_states().folder, known))
    text = (tmp_path / "summary.md").read_text()
    assert "14 held, 1 deviates, 1 violated, 1 error; 17 runs" in text
    assert "| http 1.6.2 | 17 | 14 | 1 | 1 | 1 |" in text
    assert "`kuberay-e2e crash replay 'http/create:RayCluster~job-*#1@lost'`" in text
    assert "| submits-twice | 1 |" in text


def test_the_summary_stays_short_and_is_no_markup(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    for number in range(1, 81):
        sweep.run(f"http/create:Pod~job-*#{number}@lost", broken={STARTS: "<b>|2|</b> " + "x" * 2000}, files=False)
    write(read(sweep.folder, known))
    text = (tmp_path / "summary.md").read_text()
    assert "- and 30 more, see `index.html`." in text
    assert "<b>" not in text
    assert len(text) < 40_000
