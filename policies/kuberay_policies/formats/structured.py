"""A report for programs, in JSON."""

from __future__ import annotations

import json
from typing import Any

from kuberay_policies.formats.outcome import Outcome
from kuberay_policies.policy import Finding, Severity

VERSION = 1
"""Version of the format; it changes when a field changes its meaning or goes."""


def render(outcome: Outcome) -> str:
    """Return the report."""
    report, inputs, settings = outcome.report, outcome.inputs, outcome.settings
    content = {
        "version": VERSION,
        "environment": settings.environment or None,
        "kuberayVersion": str(settings.version),
        "summary": {
            "objects": len(report.subjects),
            "files": len(inputs.files),
            "policies": len(report.policies),
            "errors": report.count(Severity.ERROR),
            "warnings": report.count(Severity.WARNING),
            "waived": len(report.waived),
            "deferred": len(report.deferred),
            "inputProblems": len(inputs.problems),
        },
        "findings": [_finding(outcome, finding) for finding in report.findings],
        "waived": [
            {
                **_finding(outcome, entry.finding),
                "reason": entry.waiver.reason,
                "expires": entry.waiver.expires.isoformat(),
            }
            for entry in report.waived
        ],
        "deferred": [
            {
                "object": deferred.subject.title,
                "path": deferred.path,
                "policies": [policy.id for policy in deferred.policies],
            }
            for deferred in report.deferred
        ],
        "inputProblems": [
            {"file": problem.file, "line": problem.line, "message": problem.message} for problem in inputs.problems
        ],
        "notes": inputs.notes,
        "filesWithoutObjects": inputs.others,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _finding(outcome: Outcome, finding: Finding) -> dict[str, Any]:
    line, column = outcome.place(finding) or (None, None)
    return {
        "policy": finding.policy.id,
        "name": finding.policy.name,
        "family": finding.policy.family.value,
        "severity": finding.severity.value,
        "object": finding.subject.title,
        "file": finding.source.file,
        "line": line,
        "column": column,
        "urn": finding.source.urn,
        "path": finding.path,
        "wrong": finding.wrong,
        "remedy": finding.remedy,
        "fingerprint": finding.fingerprint,
    }
