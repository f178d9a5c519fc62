"""One report of all parts that run on a real cluster."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kuberay_e2e.kind_run import COMMANDS, Ended, Part, exit_code, write

SUITE = '<testsuite name="faults" tests="2" failures="1"><testcase name="a"/><testcase name="b"/></testsuite>'


def ended(part: Part, code: int = 0) -> Ended:
    return Ended(part, code, 12.4, 3 * 2**30)


def test_every_part_has_a_command() -> None:
    assert set(COMMANDS) == set(Part)


@pytest.mark.parametrize(
    ("codes", "whole"),
    [([], 0), ([0, 0], 0), ([0, 1], 1), ([1, 3, 0], 3), ([0, 2], 2), ([3, 130], 130), ([1, -9], 3), ([0, -9], 3)],
)
def test_the_worst_part_decides(codes: list[int], whole: int) -> None:
    assert exit_code([ended(Part.POD, code) for code in codes]) == whole


def test_the_summary_has_a_line_and_the_report_of_each_part(tmp_path: Path) -> None:
    (tmp_path / "faults").mkdir()
    (tmp_path / "faults" / "report.md").write_text("# Faults\n\nTwo scenarios.\n")
    write(tmp_path, [ended(Part.FAULTS), ended(Part.KUEUE, 3)])
    text = (tmp_path / "summary.md").read_text()
    assert "| faults | held | 12 | 3.0 GiB |\n| kueue | error | 12 | 3.0 GiB |" in text
    assert "# Faults\n\nTwo scenarios." in text
    assert "# kueue\n\nIt ended without a report." in text


def test_junit_has_the_suites_of_all_parts_and_an_error_for_one_without(tmp_path: Path) -> None:
    (tmp_path / "faults").mkdir()
    (tmp_path / "faults" / "junit.xml").write_text(SUITE)
    write(tmp_path, [ended(Part.FAULTS, 1), ended(Part.KUEUE, 3)])
    suites = ET.parse(tmp_path / "junit.xml").getroot()
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [("faults", "2"), ("kueue", "1")]
    error = suites.find("testsuite[@name='kueue']/testcase/error")
    assert error is not None and error.get("message") == "It ended with 3 and without a report."


def test_the_result_tells_time_and_memory(tmp_path: Path) -> None:
    write(tmp_path, [ended(Part.POD)])
    assert json.loads((tmp_path / "result.json").read_text()) == {
        "exit_code": 0,
        "parts": [{"name": "lifecycle-pod", "exit_code": 0, "seconds": 12.4, "memory": 3 * 2**30}],
    }
