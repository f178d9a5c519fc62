"""Command lines that a report gives its readers."""

import shlex
from pathlib import Path

from kuberay_e2e.crash.point import Point


def replay(point: Point | str) -> str:
    """Runs a point again, which may be given by its text."""
    return f"kuberay-e2e crash replay {shlex.quote(str(point))}"


def go_on(folder: Path) -> str:
    """Runs what has no result yet."""
    return f"kuberay-e2e crash run --report {shlex.quote(str(folder))}"
