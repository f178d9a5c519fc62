"""The report folder of a life cycle: JUnit XML, the result and the trace as JSON, and every log."""

import dataclasses
import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.lifecycle.result import Result, State
from kuberay_e2e.session import Session

_SUITE = "kuberay-e2e lifecycle"


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
    """Write `junit.xml` and `result.json`."""
    (folder / "junit.xml").write_bytes(junit(result))
    data = {**dataclasses.asdict(result), "exit_code": result.exit_code}
    for step, record in zip(result.steps, data["steps"], strict=True):
        record["title"] = step.title
    (folder / "result.json").write_text(json.dumps(data, indent=2) + "\n")


def junit(result: Result) -> bytes:
    """The result as JUnit XML: a test case per step and per invariant."""
    failures = sum(step.state is State.FAILED for step in result.steps) + sum(
        not item.held for item in result.invariants
    )
    suite = ET.Element(
        "testsuite",
        name=_SUITE,
        tests=str(len(result.steps) + len(result.invariants)),
        failures=str(failures),
        errors=str(sum(step.state is State.ERROR for step in result.steps)),
        skipped=str(sum(step.state is State.SKIPPED for step in result.steps)),
        time=f"{result.seconds:.3f}",
    )
    for step in result.steps:
        case = ET.SubElement(
            suite,
            "testcase",
            classname="step",
            name=f"{step.number:02d} {step.title}",
            time=f"{step.seconds:.3f}",
        )
        if step.state is State.SKIPPED:
            ET.SubElement(case, "skipped")
        elif step.state is not State.HELD:
            tag = "error" if step.state is State.ERROR else "failure"
            ET.SubElement(case, tag, message=step.detail.splitlines()[0] if step.detail else "").text = step.detail
    for item in result.invariants:
        case = ET.SubElement(suite, "testcase", classname="invariant", name=item.name, time="0")
        if not item.held:
            ET.SubElement(case, "failure", message=item.seen).text = item.seen
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"
