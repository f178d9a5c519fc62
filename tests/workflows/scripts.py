"""The scripts of steps, run as GitHub runs them, and the repository that they run in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import yaml

_OF_MAKE = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as `shell: bash` does, as if no `make` had started the tests."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_MAKE}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**environment, "GITHUB_ACTIONS": "true", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def change(checkout: Path, stack: str, **fields: object) -> None:
    """Set fields of the one RayJob of a stack; None removes a field."""
    path = checkout / "stacks" / f"Pulumi.{stack}.yaml"
    content = yaml.safe_load(path.read_text())
    [job] = content["config"]["kuberay:rayJobs"].values()
    job |= fields
    for name in [name for name, value in fields.items() if value is None]:
        del job[name]
    path.write_text(yaml.safe_dump(content))
