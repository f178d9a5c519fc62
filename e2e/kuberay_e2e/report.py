"""The report folder of a life cycle: JUnit XML, Markdown, the result and the trace as JSON, and every log."""

import dataclasses
import json
import shutil
from pathlib import Path

from kuberay_e2e import junit
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.junit import Case, Outcome
from kuberay_e2e.lifecycle.result import Result, State
from kuberay_e2e.session import Session

_SUITE = "kuberay-e2e lifecycle"

_OUTCOMES = {
    State.HELD: Outcome.PASSED,
    State.FAILED: Outcome.FAILURE,
    State.ERROR: Outcome.ERROR,
    State.SKIPPED: Outcome.SKIPPED,
}


def prepare(folder: Path) -> Path:
    """Make the report folder and check that it can be written.

    Raises:
        HarnessError: It cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise HarnessError(f"Cannot write the report folder {folder}: {error}. Choose another --report.") from error
    return folder


def keep_evidence(session: Session, folder: Path) -> None:
    """Copy trace, ledger and logs of a session into the report folder, before its own folder goes."""
    session.keep_logs()
    run = session.run.folder
    wanted = {
        run / "trace.jsonl": folder / "trace.jsonl",
        run / "ledger.jsonl": folder / "ledger.jsonl",
        **{log: folder / "logs" / log.name for log in (run / "operator").glob("*.log")},
        **{log: folder / "logs" / f"pod-{log.name}" for log in (run / "pod-logs").glob("*.log")},
        **{log: folder / "logs" / f"ray-{log.name}" for log in (run / "ray").glob("logs/*.log")},
    }
    for source, target in wanted.items():
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def write(result: Result, folder: Path) -> None:
    """Write `junit.xml`, `report.md` and `result.json`."""
    (folder / "junit.xml").write_bytes(junit_xml(result))
    (folder / "report.md").write_text(markdown(result))
    data = {**dataclasses.asdict(result), "exit_code": result.exit_code}
    for step, record in zip(result.steps, data["steps"], strict=True):
        record["title"] = step.title
    (folder / "result.json").write_text(json.dumps(data, indent=2) + "\n")


def junit_xml(result: Result) -> bytes:
    """The result as JUnit XML: a test case per step and per invariant."""
    cases = [
        Case("step", f"{step.number:02d} {step.title}", _OUTCOMES[step.state], step.seconds, step.detail)
        for step in result.steps
    ]
    cases += [
        Case("invariant", item.name, Outcome.PASSED if item.held else Outcome.FAILURE, text=item.seen)
        for item in result.invariants
    ]
    return junit.document(_SUITE, cases, result.seconds)


def markdown(result: Result) -> str:
    """The result for people: a table of the steps, then one of the invariants."""
    lines = [f"# Life cycle of a RayJob: {result.source}", ""]
    lines += [f"Operator disturbed at `{result.fault}`, Ray: {result.ray}, {result.seconds:.0f} s.", ""]
    lines += ["| step | | outcome | seconds | seen |", "|---|---|---|---|---|"]
    for step in result.steps:
        lines.append(f"| {step.number} | {step.title} | {step.state} | {step.seconds:.1f} | {_cell(step.detail)} |")
    if result.invariants:
        lines += ["", "| invariant | | seen |", "|---|---|---|"]
    for item in result.invariants:
        lines.append(f"| {item.name} | {'held' if item.held else '**broken**'} | {_cell(item.seen)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
