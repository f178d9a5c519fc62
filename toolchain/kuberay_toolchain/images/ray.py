"""The Ray image: Ray from its Python wheels on Debian's Python."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from kuberay_toolchain.errors import NoNetwork
from kuberay_toolchain.images.archive import architecture
from kuberay_toolchain.images.debian import DebianSystem
from kuberay_toolchain.processes import run
from kuberay_toolchain.progress import Progress

REQUIREMENTS = Path(__file__).with_name("ray-requirements.txt")
"""Ray and everything that it needs, with the hash of every wheel."""

_PYTHON = "3.11"
_PLATFORMS = {
    "amd64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64"),
    "arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
}
_INSTALL = """
python3 -m pip install --no-index --no-cache-dir --break-system-packages --disable-pip-version-check \\
  --root-user-action=ignore --find-links /tmp/wheels --require-hashes --requirement /tmp/requirements.txt
rm -rf /tmp/wheels /tmp/requirements.txt /usr/local/lib/python3*/dist-packages/ray/jars
ln -s /usr/bin/python3 /usr/local/bin/python
useradd --uid 1000 --gid users --create-home --shell /bin/bash ray
"""


def download(wheels: Path, log: Path, task: str, progress: Progress) -> None:
    """Fetch the wheels, by this machine's own pip and its settings.

    Args:
        wheels: Where to put them.
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
            *("--no-deps", "--python-version", _PYTHON, "--implementation", "cp", *platforms),
            *("--require-hashes", "--requirement", str(REQUIREMENTS), "--dest", str(wheels)),
        ],
        cwd=log.parent,
        env=dict(os.environ),
        on_line=on_line,
        tick=lambda: progress.update(task, f"fetching Ray's wheels, {len(list(wheels.glob('*.whl')))} so far"),
    )
    if code != 0:
        tail = "\n".join(f"  {line}" for line in said[-8:])
        raise NoNetwork(
            f"{task}: pip could not fetch Ray's wheels (exit code {code}). Check the network and pip's index. The "
            f"whole output is in {log}; its last lines are:\n{tail}"
        )


def furnish(system: DebianSystem, wheels: Path) -> None:
    """Install Ray for all users of a Debian system, and make the user `ray`.

    Args:
        system: The system, with Python and pip.
        wheels: Folder of the wheels; it is moved into the system while it is used.

    Raises:
        ImageFailed: A step failed.
    """
    shutil.move(wheels, system.root / "tmp" / "wheels")
    system.copy(REQUIREMENTS, "/tmp/requirements.txt")
    system.run(_INSTALL, "installing Ray")
