"""Verdicts on scenarios, and the report folder that holds them: JUnit XML, Markdown and JSON.

A scenario looks at promises: what KubeRay or Kueue tells its users. `kuberay_e2e.deviations` turns what was found of
each promise into the verdict.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kuberay_e2e import junit
from kuberay_e2e.junit import Case, Outcome


class State(StrEnum):
    """How a scenario came out."""

    HELD = "held"
    DEVIATES = "deviates"
    VIOLATED = "violated"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """What a scenario found of one promise.

    Attributes:
        promise: The promise in a few words, such as `entrypoint runs once`; deviations name it.
        held: Whether it was kept.
        expected: What was expected, where that needs more words than the promise.
        seen: What was seen.
    """

    promise: str
    held: bool
    seen: str
    expected: str = ""


@dataclass(frozen=True)
class Verdict:
    """How a scenario came out.

    Attributes:
        scenario: Name of the scenario.
        state: `held`; `deviates` where exactly the known deviations happened; `violated` where a promise was broken
            that is not listed, or a listed deviation has gone away; `error` where machine or harness failed.
        seconds: How long it took.
        expected: What was expected, a sentence.
        seen: What was seen, a sentence.
        mode: Submission mode of the RayJob, or another word for the variant; empty where there is only one.
        deviation: The known deviations that happened, by id.
        findings: The promises one by one.
        evidence: What was recorded, line by line: changes of status, pods, events, in the order of time.
    """

    scenario: str
    state: State
    seconds: float
    expected: str
    seen: str
    mode: str = ""
    deviation: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The scenario with its mode, such as `head-pod-killed[HTTPMode]`."""
        return f"{self.scenario}[{self.mode}]" if self.mode else self.scenario


_OUTCOMES = {
    State.HELD: Outcome.PASSED,
    State.DEVIATES: Outcome.SKIPPED,
    State.VIOLATED: Outcome.FAILURE,
    State.ERROR: Outcome.ERROR,
}


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """0 all held or deviate as listed, 1 something was violated, 3 the machine or the harness failed."""
    states = {verdict.state for verdict in verdicts}
    if State.ERROR in states:
        return 3
    return int(State.VIOLATED in states)


def write_report(folder: Path, title: str, verdicts: Sequence[Verdict], facts: Mapping[str, str]) -> None:
    """Write `junit.xml`, `report.md` and `result.json` into a folder that exists.

    Args:
        folder: The report folder; see `kuberay_e2e.report.prepare`.
        title: Title of the report and name of the test suite.
        verdicts: The verdicts, in the order of the report.
        facts: What the run was made with, such as versions and the cluster.
    """
    (folder / "junit.xml").write_bytes(junit_xml(title, verdicts))
    (folder / "report.md").write_text(markdown(title, verdicts, facts))
    (folder / "result.json").write_text(json_text(title, verdicts, facts))


def junit_xml(title: str, verdicts: Sequence[Verdict]) -> bytes:
    """The verdicts as JUnit XML: a test case per scenario, skipped with the reason where it deviates as listed."""
    cases = [
        Case(title, verdict.name, _OUTCOMES[verdict.state], verdict.seconds, _reason(verdict)) for verdict in verdicts
    ]
    return junit.document(title, cases, sum(verdict.seconds for verdict in verdicts))


def json_text(title: str, verdicts: Sequence[Verdict], facts: Mapping[str, str]) -> str:
    """The verdicts as JSON, with the exit code that they give."""
    data = {
        "title": title,
        "exit_code": exit_code(verdicts),
        "facts": dict(facts),
        "verdicts": [dataclasses.asdict(verdict) for verdict in verdicts],
    }
    return json.dumps(data, indent=2) + "\n"


def markdown(title: str, verdicts: Sequence[Verdict], facts: Mapping[str, str]) -> str:
    """The verdicts for people: facts, a table of all, then every scenario that did not simply hold."""
    lines = [f"# {title}", "", *(f"- {name}: {value}" for name, value in facts.items()), ""]
    lines += ["| scenario | verdict | seconds | seen |", "|---|---|---|---|"]
    for verdict in verdicts:
        state = " ".join([verdict.state, *(f"`{name}`" for name in verdict.deviation)])
        lines.append(f"| {verdict.name} | {state} | {verdict.seconds:.1f} | {_cell(verdict.seen)} |")
    lines += ["", _counts(verdicts), ""]
    for verdict in verdicts:
        if verdict.state is not State.HELD:
            lines += _section(verdict)
    return "\n".join(lines).rstrip() + "\n"


def _section(verdict: Verdict) -> list[str]:
    lines = [
        f"## {verdict.name}: {verdict.state}",
        "",
        f"Expected: {verdict.expected}",
        "",
        f"Seen: {verdict.seen}",
        "",
    ]
    for finding in verdict.findings:
        expected = f" (expected {finding.expected})" if finding.expected and not finding.held else ""
        lines.append(f"- {finding.promise}: {'held' if finding.held else '**broken**'}: {finding.seen}{expected}")
    if verdict.evidence:
        lines += ["", "```", *verdict.evidence, "```"]
    return [*lines, ""]


def _counts(verdicts: Sequence[Verdict]) -> str:
    counts = {state: sum(verdict.state is state for verdict in verdicts) for state in State}
    return ", ".join(f"{count} {state}" for state, count in counts.items()) + "."


def _reason(verdict: Verdict) -> str:
    if verdict.state is State.HELD:
        return ""
    deviation = f"Known deviation {', '.join(verdict.deviation)}. " if verdict.deviation else ""
    lines = [f"{deviation}{verdict.seen}", f"Expected: {verdict.expected}", *verdict.evidence]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
