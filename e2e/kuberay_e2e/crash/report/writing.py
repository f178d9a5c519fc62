"""Writes the report of a sweep."""

from pathlib import Path

from kuberay_e2e.crash.report import machine, markdown
from kuberay_e2e.crash.report.page import page
from kuberay_e2e.crash.report.summary import Report
from kuberay_e2e.report import prepare

PAGE, JUNIT, RESULT, SUMMARY = "index.html", "junit.xml", "result.json", "summary.md"


def write(report: Report, target: Path | None = None) -> Path:
    """Write `index.html`, `junit.xml`, `result.json` and `summary.md`.

    Args:
        report: What they tell.
        target: The folder to write to; default: the sweep's own.

    Returns:
        The page.

    Raises:
        HarnessError: The folder cannot be written.
    """
    target = prepare(target or report.folder)
    files = {
        JUNIT: machine.junit_xml(report),
        RESULT: _encoded(machine.json_text(report)),
        SUMMARY: _encoded(markdown.markdown(report)),
        PAGE: _encoded(page(report, target)),
    }
    for name, content in files.items():
        (target / name).write_bytes(content)
    return target / PAGE


def _encoded(text: str) -> bytes:
    """As UTF-8, with a question mark for what is no letter, such as half a pair of surrogates in an answer."""
    return text.encode("utf-8", "replace")
