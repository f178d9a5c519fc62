"""Writes the report of a sweep."""

from pathlib import Path

from kuberay_e2e.crash.report import machine, markdown
from kuberay_e2e.crash.report.page import page
from kuberay_e2e.crash.report.summary import Report
from kuberay_e2e.report import prepare

PAGE, JUNIT, RESULT, SUMMARY = "index.html", "junit.xml", "result.json", "report.md"


def write(report: Report, target: Path | None = None) -> Path:
    """Write `index.html`, `junit.xml`, `result.json` and `report.md`.

    Args:
        report: What they tell.
        target: The folder to write to; default: the sweep's own.

    Returns:
        The page.

    Raises:
        HarnessError: The folder cannot be written.
    """
    target = prepare(target or report.folder)
    (target / JUNIT).write_bytes(machine.junit_xml(report))
    (target / RESULT).write_text(machine.json_text(report), encoding="utf-8")
    (target / SUMMARY).write_text(markdown.markdown(report), encoding="utf-8")
    (target / PAGE).write_text(page(report, target), encoding="utf-8")
    return target / PAGE
