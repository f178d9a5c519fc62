"""Fetches wheels for the Python of an image, by this machine's own pip and its settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kuberay_toolchain.errors import NoNetwork
from kuberay_toolchain.images.archive import architecture
from kuberay_toolchain.processes import run
from kuberay_toolchain.progress import Progress

PYTHON = "3.11"
"""Python of Debian bookworm."""

_PLATFORMS = {
    "amd64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64"),
    "arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
}


def download(requirements: Path, wheels: Path, log: Path, task: str, progress: Progress) -> None:
    """Fetch the wheels of a file of requirements, each by its hash.

    Args:
        requirements: What is wanted: everything, pinned, with the hash of every wheel.
        wheels: Folder to put them in.
        log: Receives pip's output.
        task: For progress lines.
        progress: Hears how far it is.

    Raises:
        NoNetwork: pip could not fetch them.
    """
    said: list[str] = []

    def on_line(line: str) -> None:
        said.append(line)
        with log.open("a") as output:
            output.write(f"{line}\n")

    platforms = [option for name in _PLATFORMS[architecture()] for option in ("--platform", name)]
    code = run(
        [
            *(sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--only-binary=:all:"),
            *("--no-deps", "--python-version", PYTHON, "--implementation", "cp", *platforms),
            *("--require-hashes", "--requirement", str(requirements), "--dest", str(wheels)),
        ],
        cwd=log.parent,
        env=dict(os.environ),
        on_line=on_line,
        tick=lambda: progress.update(task, f"fetching Python packages, {len(list(wheels.glob('*.whl')))} so far"),
    )
    if code != 0:
        tail = "\n".join(f"  {line}" for line in said[-8:])
        raise NoNetwork(
            f"{task}: pip could not fetch the packages of {requirements.name} (exit code {code}). Check the network "
            f"and pip's index. The whole output is in {log}; its last lines are:\n{tail}"
        )
