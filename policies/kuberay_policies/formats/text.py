"""A report for people: findings by object, then what was waived, deferred or not read, then the summary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from kuberay_model.sentences import listed
from kuberay_policies.formats.outcome import Outcome, counted
from kuberay_policies.policy import Finding


def render(outcome: Outcome) -> str:
    """Return the report."""
    return "\n".join(_lines(outcome)) + "\n"


def _lines(outcome: Outcome) -> Iterator[str]:
    report, inputs = outcome.report, outcome.inputs
    for _, found in groupby(report.findings, key=lambda finding: id(finding.subject)):
        findings = list(found)
        yield f"{findings[0].subject.title}  ({_origin(findings[0])})"
        for finding in findings:
            yield f"  {finding.severity.value:<7} {finding.policy.id:<5} {_where(outcome, finding)}"
            yield f"          {finding.wrong}"
            yield f"          {finding.remedy}"
        yield ""
    if report.waived:
        yield "Waived:"
        for entry in report.waived:
            yield (
                f"  {entry.finding.policy.id} {entry.finding.subject.title}: {entry.waiver.reason} "
                f"(until {entry.waiver.expires})"
            )
        yield ""
    if report.deferred:
        yield "Known only at deployment, so not decided:"
        for deferred in report.deferred:
            policies = listed(policy.id for policy in deferred.policies)
            yield f"  {deferred.subject.title} {deferred.path}: {policies}"
        yield ""
    for waiver in report.unused:
        yield f"Unused waiver ({waiver.source}): {listed(waiver.policies)} on {listed(waiver.targets)}."
    if inputs.problems:
        yield "Not checked:"
        yield from (f"  {problem}" for problem in inputs.problems)
        yield ""
    yield from inputs.notes
    if inputs.others:
        shown = listed([*inputs.others[:3], *(["others"] if len(inputs.others) > 3 else [])])
        yield f"{counted(len(inputs.others), 'file')} without Kubernetes objects: {shown}."
    yield outcome.summary


def _origin(finding: Finding) -> str:
    source = finding.source
    return f"{source.file}, {source.urn}" if source.file and source.urn else str(source)


def _where(outcome: Outcome, finding: Finding) -> str:
    place = outcome.place(finding)
    if place is None:
        return finding.path
    return f"{finding.source.file}:{place[0]}:{place[1]}  {finding.path}"
