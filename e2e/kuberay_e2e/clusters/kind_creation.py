"""pytest-kind's cluster, with its files where we want them."""

import shlex
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest_kind  # type: ignore[import-untyped]

from kuberay_e2e.errors import HarnessError


class Creation(pytest_kind.KindCluster):  # type: ignore[misc]
    """A cluster to be created by kind.

    Args:
        name: Name of the cluster.
        folder: Receives the kubeconfig; pytest-kind would make a folder in the working folder otherwise.
        image: Image of the nodes.
        kind: The command to run kind with; its standard error goes to `log`.
        kubectl: The toolchain's kubectl, so that none is downloaded.
    """

    def __init__(self, name: str, folder: Path, *, image: str, kind: Path, kubectl: Path) -> None:
        kubeconfig = folder / "kubeconfig"
        super().__init__(str(folder), kubeconfig=kubeconfig, image=image, kind_path=kind, kubectl_path=kubectl)
        self.name = name
        self.kubeconfig = kubeconfig

    def run(self, config: Path, log: Path) -> None:
        """Create the cluster.

        Args:
            config: kind's configuration.
            log: Where kind's words are.

        Raises:
            HarnessError: kind failed; the message ends with its words.
        """
        try:
            self.create(config)
        except (subprocess.CalledProcessError, OSError) as error:
            said = log.read_text(errors="replace")[-3000:] if log.exists() else ""
            raise HarnessError(f"kind did not create the cluster {self.name} ({error}): {said}") from error


def write_command(
    target: Path, program: Path, *, environment: Mapping[str, str], without: Collection[str], log: Path
) -> None:
    """Write a command that runs kind in an environment of its own: pytest-kind would hand on that of its process.

    Args:
        target: The command.
        program: kind.
        environment: Variables to set.
        without: Variables to unset.
        log: Receives what kind says on standard error.
    """
    lines = ["#!/bin/sh", *(f"unset {name}" for name in without)]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    lines.append(f'exec {shlex.quote(str(program))} "$@" 2>>{shlex.quote(str(log))}')
    target.write_text("\n".join(lines) + "\n")
    target.chmod(0o755)
