"""Annotations of a pull request, as workflow commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_policies.formats.outcome import Outcome


def render(outcome: Outcome) -> str:
    """Return one workflow command per finding and per unreadable input, and the summary."""
    return "\n".join(_lines(outcome)) + "\n"


def _lines(outcome: Outcome) -> Iterator[str]:
    for finding in outcome.report.findings:
        line, column = outcome.place(finding) or (None, None)
        place = f" at {finding.path}" if finding.path else ""
        yield command(
            finding.severity.value,
            f"{finding.subject.title}{place}: {finding.message}",
            file=finding.source.file,
            line=line,
            col=column,
            title=f"{finding.policy.id} {finding.policy.title}",
        )
    for problem in outcome.inputs.problems:
        yield command("error", problem.message, file=problem.file, line=problem.line, title="Not checked")
    for deferred in outcome.report.deferred:
        policies = ", ".join(policy.id for policy in deferred.policies)
        yield command(
            "notice",
            f"{deferred.subject.title}: {deferred.path} is known only at deployment; not decided: {policies}.",
            title="Not decided",
        )
    yield outcome.summary


def command(kind: str, message: str, **properties: str | int | None) -> str:
    """Return a workflow command, its parts escaped so that no text of a manifest can start a command of its own."""
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
    return f"::{kind} {given}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
