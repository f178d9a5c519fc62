"""The system of the harness's image: Debian's Python with the packages that a part of the crash sweep needs."""

from __future__ import annotations

import shutil
from pathlib import Path

from kuberay_toolchain.images.debian import DebianSystem

REQUIREMENTS = Path(__file__).with_name("harness-requirements.txt")
"""Python packages with the hash of every wheel, made by `uv pip compile` from the `.in` file beside it."""

_INSTALL = """
python3 -m pip install --no-index --no-cache-dir --break-system-packages --disable-pip-version-check \\
  --root-user-action=ignore --find-links /tmp/wheels --require-hashes --requirement /tmp/requirements.txt
rm -rf /tmp/wheels /tmp/requirements.txt
ln -s /usr/bin/python3 /usr/local/bin/python
useradd --uid 1000 --user-group --create-home --shell /bin/bash harness
"""


def furnish(system: DebianSystem, wheels: Path) -> None:
    """Install the Python packages for all users of a Debian system, and make the user `harness`.

    Args:
        system: The system, with Python and pip.
        wheels: Folder of the wheels; it is moved into the system while it is used.

    Raises:
        ImageFailed: A step failed.
    """
    shutil.move(wheels, system.root / "tmp" / "wheels")
    system.copy(REQUIREMENTS, "/tmp/requirements.txt")
    system.run(_INSTALL, "installing Python packages")
