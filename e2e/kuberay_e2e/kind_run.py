"""`kuberay-e2e kind`: everything that is tried on a real cluster, part by part, and one report of it.

Each part is a command of its own, which can be run alone: it makes its cluster and takes it down.
"""

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import psutil
import typer

from kuberay_e2e.signals import INTERRUPTED
from kuberay_e2e.terminal import terminal
from kuberay_toolchain.processes import die_with_parent

_PATIENCE_SECONDS = 180.0
_SAMPLE_SECONDS = 1.0


class Part(StrEnum):
    """The parts, in the order in which they run."""

    POD = "lifecycle-pod"
    LOCAL = "lifecycle-local"
    FAULTS = "faults"
    KUEUE = "kueue"


COMMANDS = {
    Part.POD: ("lifecycle", "--cluster", "kind", "--operator", "pod"),
    Part.LOCAL: ("lifecycle", "--cluster", "kind", "--operator", "local"),
    Part.FAULTS: ("faults", "--cluster", "kind"),
    Part.KUEUE: ("kueue", "--cluster", "kind"),
}
"""The command of each part; `--report` is added."""


@dataclass(frozen=True)
class Ended:
    """A part that has ended.

    Attributes:
        part: Which.
        code: Its exit code.
        seconds: How long it took.
        memory: The most memory that the machine used beside what it used before, bytes.
    """

    part: Part
    code: int
    seconds: float
    memory: int

    @property
    def verdict(self) -> str:
        """The exit code in words."""
        return {0: "held", 1: "did not hold", 2: "bad input", INTERRUPTED: "interrupted"}.get(self.code, "error")


def kind(
    parts: Annotated[list[Part] | None, typer.Option("--part", help="Only this; may be repeated.")] = None,
    report_folder: Annotated[Path, typer.Option("--report", metavar="DIR", help="Report folder.")] = Path(
        "reports/kind"
    ),
) -> None:
    """Life cycle with the operator killed both ways, faults of a real cluster, Kueue: on kind, with one report."""
    from kuberay_e2e import report

    console = terminal()
    folder = report.prepare(report_folder)
    ended = []
    for part in parts or list(Part):
        console.rule(part.value)
        ended.append(_run(part, folder / part.value))
        write(folder, ended)
        if ended[-1].code == INTERRUPTED:
            break
    for item in ended:
        console.print(
            f"{item.part:16} {item.verdict:12} {item.seconds:6.0f} s  {item.memory / 2**30:4.1f} GiB", highlight=False
        )
    console.print(f"Report: {folder}", highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(ended))


def exit_code(ended: Sequence[Ended]) -> int:
    """The code of the whole: interrupted, else the machine failed, else something did not hold, else 0."""
    codes = {item.code for item in ended}
    known = {code if code in (0, 1, 2, INTERRUPTED) else 3 for code in codes}
    return next((code for code in (INTERRUPTED, 3, 2, 1) if code in known), 0)


def write(folder: Path, ended: Sequence[Ended]) -> None:
    """Write `summary.md`, `junit.xml` and `result.json` over the reports of the parts.

    Args:
        folder: The report folder; each part's report is in a folder of its own in it.
        ended: The parts that have ended.
    """
    (folder / "summary.md").write_text(summary(folder, ended))
    (folder / "junit.xml").write_bytes(junit_xml(folder, ended))
    data = {
        "exit_code": exit_code(ended),
        "parts": [
            {"name": item.part.value, "exit_code": item.code, "seconds": round(item.seconds, 1), "memory": item.memory}
            for item in ended
        ],
    }
    (folder / "result.json").write_text(json.dumps(data, indent=2) + "\n")


def summary(folder: Path, ended: Sequence[Ended]) -> str:
    """The whole run in Markdown: a table of the parts, then the report of each."""
    lines = ["# KubeRay on kind", "", "| part | outcome | seconds | memory |", "|---|---|---|---|"]
    for item in ended:
        lines.append(f"| {item.part} | {item.verdict} | {item.seconds:.0f} | {item.memory / 2**30:.1f} GiB |")
    for item in ended:
        text = folder / item.part.value / "report.md"
        lines += ["", text.read_text().strip() if text.exists() else f"# {item.part}\n\nIt ended without a report."]
    return "\n".join(lines) + "\n"


def junit_xml(folder: Path, ended: Sequence[Ended]) -> bytes:
    """The test suites of all parts in one file; a part without one is a suite with one error."""
    suites = ET.Element("testsuites")
    for item in ended:
        file = folder / item.part.value / "junit.xml"
        if file.exists():
            root = ET.parse(file).getroot()
            suites.extend([root] if root.tag == "testsuite" else list(root))
        else:
            suite = ET.SubElement(suites, "testsuite", name=item.part.value, tests="1", errors="1")
            case = ET.SubElement(suite, "testcase", classname=item.part.value, name="report")
            ET.SubElement(case, "error", message=f"It ended with {item.code} and without a report.")
    ET.indent(suites)
    return bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True))


def _run(part: Part, folder: Path) -> Ended:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("report.md", "junit.xml", "result.json"):
        (folder / name).unlink(missing_ok=True)
    started = time.monotonic()
    command = [sys.executable, "-m", "kuberay_e2e.cli", *COMMANDS[part], "--report", str(folder)]
    with _memory() as peak:
        process = subprocess.Popen(command, start_new_session=True, preexec_fn=lambda: die_with_parent(signal.SIGTERM))
        try:
            code = process.wait()
        except KeyboardInterrupt:
            code = _interrupt(process)
    return Ended(part, code, time.monotonic() - started, peak[0])


def _interrupt(process: subprocess.Popen[bytes]) -> int:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return INTERRUPTED


@contextlib.contextmanager
def _memory() -> Iterator[list[int]]:
    """The most memory that came into use inside the block, bytes, as a list of one."""
    before, peak, over = psutil.virtual_memory().available, [0], threading.Event()

    def sample() -> None:
        while not over.wait(_SAMPLE_SECONDS):
            peak[0] = max(peak[0], before - psutil.virtual_memory().available)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        over.set()
        sampler.join()
