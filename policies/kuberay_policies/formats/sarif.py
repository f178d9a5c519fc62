"""A report in SARIF 2.1.0, which GitHub, GitLab and editors read."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from kuberay_policies.documentation import page
from kuberay_policies.formats.outcome import Outcome
from kuberay_policies.policy import Finding, Policy, Severity

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "kuberayPolicies/v1"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def render(outcome: Outcome) -> str:
    """Return the report."""
    policies = list(outcome.report.policies)
    index = {policy.id: position for position, policy in enumerate(policies)}
    results = [_result(outcome, finding, index) for finding in outcome.report.findings]
    results += [
        {**_result(outcome, entry.finding, index), "suppressions": [_suppression(entry.waiver.reason)]}
        for entry in outcome.report.waived
    ]
    run = {
        "tool": {
            "driver": {
                "name": "kuberay-policies",
                "version": _version(),
                "rules": [_rule(outcome, policy) for policy in policies],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not outcome.inputs.problems,
                "exitCode": outcome.exit_code,
                "toolExecutionNotifications": _notifications(outcome),
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    content = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _rule(outcome: Outcome, policy: Policy) -> dict[str, Any]:
    level = _LEVELS[outcome.settings.severity(policy)]
    return {
        "id": policy.id,
        "name": "".join(part.capitalize() for part in policy.name.split("-")),
        "shortDescription": {"text": f"{policy.title}."},
        "fullDescription": {"text": policy.why},
        "help": {"text": page(policy)},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": [policy.family.value]},
    }


def _result(outcome: Outcome, finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": f"{finding.subject.title} {finding.path}".strip()}]
    }
    if finding.source.file is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(finding.source.file)}}
        if place := outcome.place(finding):
            location["physicalLocation"]["region"] = {"startLine": place[0], "startColumn": place[1]}
    return {
        "ruleId": finding.policy.id,
        "ruleIndex": index[finding.policy.id],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.subject.title}: {finding.message}"},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
    }


def _notifications(outcome: Outcome) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for problem in outcome.inputs.problems:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
        if problem.line is not None:
            place["region"] = {"startLine": problem.line}
        message = {"text": problem.message}
        found.append({"level": "error", "message": message, "locations": [{"physicalLocation": place}]})
    for deferred in outcome.report.deferred:
        policies = ", ".join(policy.id for policy in deferred.policies)
        text = f"{deferred.subject.title}: {deferred.path} is known only at deployment; not decided: {policies}."
        found.append({"level": "note", "message": {"text": text}})
    return found


def _suppression(reason: str) -> dict[str, Any]:
    return {"kind": "external", "status": "accepted", "justification": reason}


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _version() -> str:
    try:
        return version("pulumi-kuberay")
    except PackageNotFoundError:
        return "0"
