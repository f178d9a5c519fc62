"""The report folder says the same in JUnit XML, Markdown and JSON."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kuberay_e2e.verdicts import Finding, State, Verdict, exit_code, markdown, write_report

HELD = Verdict("head-pod-killed", State.HELD, 12.5, "Failed.", "Failed.", "K8sJobMode")
DEVIATES = Verdict(
    "submitter-job-deleted", State.DEVIATES, 30.0, "Ends.", "Runs on.", deviation=("job-gone",), evidence=("+1.0 Job",)
)
VIOLATED = Verdict(
    "node-drained",
    State.VIOLATED,
    4.0,
    "Ends.",
    "entrypoint runs once: 2 starts | 1 end.",
    findings=(Finding("entrypoint runs once", False, "2 starts | 1 end", "1 start"),),
)
ERROR = Verdict("worker-pod-killed", State.ERROR, 1.0, "Ends.", "There was no worker pod.")
FACTS = {"KubeRay": "1.6.2"}


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [([], 0), ([HELD, DEVIATES], 0), ([HELD, VIOLATED], 1), ([VIOLATED, ERROR], 3)],
)
def test_exit_code(verdicts: list[Verdict], code: int) -> None:
    assert exit_code(verdicts) == code


def test_a_known_deviation_is_skipped_with_its_name_and_never_passes_silently(tmp_path: Path) -> None:
    write_report(tmp_path, "cluster faults", [HELD, DEVIATES, VIOLATED, ERROR], FACTS)
    [suite] = ET.fromstring((tmp_path / "junit.xml").read_bytes())
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    held, deviates, violated, error = suite.findall("testcase")
    assert (held.get("name"), len(held)) == ("head-pod-killed[K8sJobMode]", 0)
    assert "Known deviation job-gone" in str(deviates[0].get("message"))
    assert (violated[0].tag, error[0].tag) == ("failure", "error")


def test_the_json_holds_all_of_a_verdict_and_the_exit_code(tmp_path: Path) -> None:
    write_report(tmp_path, "cluster faults", [VIOLATED], FACTS)
    found = json.loads((tmp_path / "result.json").read_text())
    assert (found["exit_code"], found["facts"]) == (1, FACTS)
    assert found["verdicts"][0]["findings"][0]["promise"] == "entrypoint runs once"


def test_the_markdown_has_a_row_each_and_a_section_for_what_did_not_simply_hold() -> None:
    text = markdown("cluster faults", [HELD, DEVIATES, VIOLATED], FACTS)
    assert "| head-pod-killed[K8sJobMode] | held | 12.5 | Failed. |" in text
    assert "## head-pod-killed" not in text
    assert "2 starts \\| 1 end" in text
    assert "- entrypoint runs once: **broken**: 2 starts | 1 end (expected 1 start)" in text
    assert "```\n+1.0 Job\n```" in text
    assert "1 held, 1 deviates, 1 violated, 0 error." in text
