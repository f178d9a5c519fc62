"""What version a binary answers."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from kuberay_toolchain.processes import die_with_parent
from kuberay_toolchain.programs import Probe

_SECONDS = 30


def ask_version(binary: Path, probe: Probe) -> str | None:
    """Run a binary with the probe's arguments and read the version in its answer.

    It runs with an empty home folder, so that it cannot touch the user's own.

    Returns:
        The version without a leading `v`, or None if the binary does not run or answers something else.
    """
    with tempfile.TemporaryDirectory(prefix="pulumi-kuberay-probe-") as home:
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "PULUMI_SKIP_UPDATE_CHECK": "true"}
        try:
            done = subprocess.run(
                [binary, *probe.args],
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_SECONDS,
                check=False,
                preexec_fn=die_with_parent,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    if done.returncode != 0:
        return None
    match = re.search(probe.pattern, done.stdout.decode(errors="replace"))
    return match.group(1) if match else None
