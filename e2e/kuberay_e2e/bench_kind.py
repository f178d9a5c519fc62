"""The figures of the real cluster, measured once: its parts take minutes."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.figures import Figure
from kuberay_toolchain.images.store import Images
from kuberay_toolchain.toolchain import Toolchain

_GIB, _GB = float(1 << 30), 1e9
_PREEMPTION = ("kueue", "--cluster", "kind", "--scenario", "preemption")


def obstacle() -> str:
    """Why the real cluster cannot be measured here; empty where it can."""
    try:
        ContainerEngine.detect()
    except HarnessError as error:
        return str(error)
    images = Images(Toolchain())
    missing = [name for name in images.names() if images.find(name) is None]
    return f"the images {', '.join(missing)} are not made; `make images` makes them." if missing else ""


def table(*, images: bool = False) -> Table:
    """Measure the life cycle and one Kueue scenario.

    Args:
        images: Make the images from nothing, too, in a folder that goes afterwards.

    Raises:
        SystemExit: A part did not hold.
    """
    found = Table("figure", "measured", "aim", "note", title="real cluster (kind), measured once", title_justify="left")
    for figure in [*_life_cycle(), *_queue(), *_disk(), *(_from_nothing() if images else ())]:
        shown = f"{figure.measured:.1f} {figure.unit}"
        found.add_row(figure.name, shown, f"<= {figure.aim:.0f} {figure.unit}", figure.note)
    return found


def _life_cycle() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        _command(["kind", "--part", "lifecycle-pod", "--report", folder])
        whole = json.loads((Path(folder) / "result.json").read_text())["parts"][0]
        steps = json.loads((Path(folder) / "lifecycle-pod" / "result.json").read_text())["steps"]
    return [
        Figure("kind cluster ready", float(steps[0]["seconds"]), 30, "s"),
        Figure("lifecycle --cluster kind", whole["seconds"] / 60, 4, "min", "its ten steps, and Python's start"),
        Figure("memory of lifecycle --cluster kind", whole["memory"] / _GIB, 8, "GiB", "beside what was in use before"),
    ]


def _queue() -> list[Figure]:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        _command([*_PREEMPTION, "--report", folder])
    return [Figure("kueue --cluster kind, preemption", (time.monotonic() - started) / 60, 4, "min", "with its cluster")]


def _disk() -> list[Figure]:
    images = Images(Toolchain())
    archives = [image.archive for name in images.names() if (image := images.find(name)) is not None]
    size = sum(archive.stat().st_size for archive in archives)
    return [Figure("disk of the images", size / _GB, 6, "GB", f"{len(archives)} archives")]


def _from_nothing() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        programs = Path(folder) / "pulumi-kuberay"
        programs.mkdir()
        (programs / "programs").symlink_to(Toolchain().cache / "programs")
        started = time.monotonic()
        _command(["images", "build"], environment)
    note = "the programs in them were built before"
    return [Figure("images from nothing", (time.monotonic() - started) / 60, 25, "min", note)]


def _command(arguments: Sequence[str], environment: dict[str, str] | None = None) -> None:
    command = [sys.executable, "-m", "kuberay_e2e.cli", *arguments]
    ended: subprocess.CompletedProcess[Any] = subprocess.run(command, stdout=subprocess.DEVNULL, env=environment)
    if ended.returncode:
        raise SystemExit(f"kuberay-e2e {' '.join(arguments)} ended with {ended.returncode}; run it to see why.")
