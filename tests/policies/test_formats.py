"""SARIF that scanners accept, annotations that cannot be forged, and one answer in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kuberay_policies.evaluation import evaluate
from kuberay_policies.formats import Outcome, render
from kuberay_policies.formats.github import command
from kuberay_policies.output_format import OutputFormat
from kuberay_policies.reading import InputProblem, read
from kuberay_policies.settings_file import resolve
from tests.model.rayjobs import put, spec

from .objects import job

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation"],
    "properties": {
        "artifactLocation": {
            "type": "object",
            "required": ["uri"],
            "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9:/._~%!$&'()*+,;=@-]+$"}},
        },
        "region": {
            "type": "object",
            "required": ["startLine"],
            "properties": {"startLine": {"type": "integer", "minimum": 1}, "startColumn": {"minimum": 1}},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
RULE = {
    "type": "object",
    "required": ["id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
    "properties": {
        "name": {"pattern": "^[A-Z][A-Za-z0-9]*$"},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": TEXT,
        "defaultConfiguration": {"properties": {"level": {"enum": ["none", "note", "warning", "error"]}}},
    },
}
RESULT: dict[str, Any] = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "locations": {
            "type": "array",
            "minItems": 1,
            "items": {
                "properties": {"physicalLocation": PHYSICAL, "logicalLocations": {"type": "array"}},
                "additionalProperties": False,
            },
        },
        "partialFingerprints": {"additionalProperties": {"type": "string", "minLength": 16}},
        "suppressions": {"items": {"required": ["kind"], "properties": {"kind": {"enum": ["inSource", "external"]}}}},
    },
    "additionalProperties": False,
}
NOTIFICATION = {
    "required": ["message"],
    "properties": {"message": TEXT, "level": {"enum": ["none", "note", "warning", "error"]}},
}
SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "minItems": 1,
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"properties": {"driver": {"required": ["name", "rules"], "properties": {
                        "rules": {"items": RULE}}}}},
                    "results": {"items": RESULT},
                    "invocations": {"items": {
                        "required": ["executionSuccessful"],
                        "properties": {"toolExecutionNotifications": {"items": NOTIFICATION}},
                    }},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}  # fmt: skip
"""What SARIF 2.1.0 requires of the parts that are used here (OASIS standard, sections 3.13 to 3.58)."""


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.chdir(tmp_path)
    broken = job(put("metadata.name", "a b,c"), spec(shutdownAfterJobFinishes=False, ttlSecondsAfterFinished=0))
    Path("my job.yaml").write_text(yaml.safe_dump_all([broken, job(spec(backoffLimit=9))]))
    waiver = {"policies": ["P112"], "targets": ["RayJob ml/train"], "reason": "flaky", "expires": "9999-12-31"}
    settings = resolve({"waivers": [waiver]})
    inputs = read(["my job.yaml", "gone.yaml"])
    return Outcome(inputs, evaluate(inputs.subjects, settings), settings)


def sarif(outcome: Outcome) -> Any:
    return json.loads(render(outcome, OutputFormat.SARIF))


def test_sarif_is_valid(outcome: Outcome) -> None:
    content = sarif(outcome)
    jsonschema.Draft202012Validator(SARIF).validate(content)
    (run,) = content["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_names_files_lines_and_suppressions(outcome: Outcome) -> None:
    (run,) = sarif(outcome)["runs"]
    by_rule = {result["ruleId"]: result for result in run["results"]}
    place = by_rule["P101"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20job.yaml"
    line = Path("my job.yaml").read_text().splitlines()[place["region"]["startLine"] - 1]
    assert line[place["region"]["startColumn"] - 1 :] == "shutdownAfterJobFinishes: false"
    assert by_rule["P112"]["suppressions"][0]["justification"] == "flaky"
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "no such file" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_fingerprints_stay_when_lines_move(outcome: Outcome) -> None:
    def fingerprints(outcome: Outcome) -> set[str]:
        return {str(result["partialFingerprints"]) for result in sarif(outcome)["runs"][0]["results"]}

    path = Path("my job.yaml")
    path.write_text("# moved\n\n" + path.read_text())
    inputs = read(["my job.yaml"])
    moved = Outcome(inputs, evaluate(inputs.subjects, outcome.settings), outcome.settings)
    assert fingerprints(moved) == fingerprints(outcome)
    assert len(fingerprints(moved)) == len(sarif(moved)["runs"][0]["results"])


def test_annotations_are_escaped() -> None:
    forged = command("error", "50%\n::error::forged\r", file="a,b:c%.yaml", title="x\n::set-output")
    assert forged == "::error file=a%2Cb%3Ac%25.yaml,title=x%0A%3A%3Aset-output::50%25%0A::error::forged%0D"
    assert "\n" not in forged


def test_annotations_have_a_line_per_finding_and_problem(outcome: Outcome) -> None:
    lines = render(outcome, OutputFormat.GITHUB).splitlines()
    assert len(lines) == len(outcome.report.findings) + len(outcome.inputs.problems) + 1
    assert any(line.startswith("::error file=my job.yaml,line=") and "title=P101 " in line for line in lines)
    assert any(line.startswith("::error file=gone.yaml,title=Not checked::There is no such file") for line in lines)


def test_every_format_tells_the_same_findings(outcome: Outcome) -> None:
    outcome.inputs.problems.append(InputProblem("x", 3, "Broken."))
    ids = [finding.policy.id for finding in outcome.report.findings]
    structured = json.loads(render(outcome, OutputFormat.JSON))
    assert [finding["policy"] for finding in structured["findings"]] == ids
    text = render(outcome, OutputFormat.TEXT)
    assert [line.split()[1] for line in text.splitlines() if line.startswith(("  error ", "  warning "))] == ids
    results = [result for result in sarif(outcome)["runs"][0]["results"] if "suppressions" not in result]
    assert [result["ruleId"] for result in results] == ids
    assert outcome.exit_code == 2
