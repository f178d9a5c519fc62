"""A Debian system in a folder: made by debootstrap, changed by commands that run inside it.

All of it happens in mount and process namespaces of its own, so that no mount and no process outlives the command.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from kuberay_toolchain.errors import ImageFailed
from kuberay_toolchain.processes import run
from kuberay_toolchain.progress import Progress

_ISOLATED = ("unshare", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--propagation", "private")
_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    "DPKG_FORCE": "unsafe-io",
    "PYTHONHASHSEED": "0",
}
"""Of everything that runs in a system. A half-made one is thrown away, so that dpkg need not flush each file."""

_ENTER = """
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/run"
exec chroot "$1" /bin/sh -euc "$2"
"""
_LEFT_OUT = ("./dev/*", "./proc/*", "./sys/*", "./run/*", "./tmp/*", "./var/cache/apt/*", "./var/lib/apt/lists/*")
_TAIL_LINES = 12


class DebianSystem:
    """A folder with a Debian system.

    Args:
        root: The folder.
        task: What it is made for, for progress lines.
        log: Receives the output of every command.
        progress: Hears how far it is.
    """

    def __init__(self, root: Path, task: str, log: Path, progress: Progress) -> None:
        self.root = root
        self._task = task
        self._log = log
        self._progress = progress
        self._output: list[str] = []

    def install(self, suite: str, packages: Sequence[str], cache: Path) -> None:
        """Install a minimal system and packages, from the machine's own Debian mirror where it has one.

        Args:
            suite: Debian's release, such as `bookworm`.
            packages: Packages beside those of a minimal system.
            cache: Keeps what was downloaded for the next time.

        Raises:
            ImageFailed: debootstrap failed.
        """
        cache.mkdir(parents=True, exist_ok=True)
        command = ["debootstrap", "--variant=minbase", f"--cache-dir={cache}", f"--include={','.join(packages)}"]
        self._run([*_ISOLATED, *command, suite, str(self.root), *debian_mirror(suite)], "installing Debian packages")

    def run(self, script: str, what: str) -> None:
        """Run a shell script inside the system, without a network of its own making.

        Args:
            script: Lines for `sh -eu`.
            what: What it does, for progress lines.

        Raises:
            ImageFailed: It ended with another code than 0.
        """
        self._run([*_ISOLATED, "sh", "-euc", _ENTER, "sh", str(self.root), script], what)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file of the system, and the folders above it.

        Args:
            path: Absolute path inside the system.
            text: Its whole content.
            mode: Its permissions.
        """
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def copy(self, source: Path, path: str, mode: int = 0o644) -> None:
        """Copy a file into the system, and make the folders above it."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(mode)

    def pack(self, layer: Path) -> None:
        """Write the whole system to a tar file.

        Raises:
            ImageFailed: tar failed.
        """
        excluded = [f"--exclude={pattern}" for pattern in _LEFT_OUT]
        command = ["tar", "--numeric-owner", "--xattrs", "--sort=name", *excluded, "-C", str(self.root)]
        self._run([*command, "-cf", str(layer), "."], "packing the file system")

    def _run(self, command: Sequence[str], what: str) -> None:
        def on_line(line: str) -> None:
            self._output.append(line)
            with self._log.open("a") as log:
                log.write(f"{line}\n")
            if line.startswith("I: "):
                self._progress.update(self._task, f"{what}: {line[3:]}")

        code = run(
            command,
            cwd=self._log.parent,
            env={**_proxies(os.environ), **_ENVIRONMENT},
            on_line=on_line,
            tick=lambda: self._progress.update(self._task, what),
        )
        if code != 0:
            tail = "\n".join(f"  {line}" for line in self._output[-_TAIL_LINES:])
            raise ImageFailed(
                f"{self._task}: {what} ended with exit code {code}. The whole output is in {self._log}; its last "
                f"lines are:\n{tail}"
            )


def debian_mirror(suite: str) -> list[str]:
    """The Debian mirror of the machine's apt configuration, as debootstrap's argument.

    Args:
        suite: Debian's release.

    Returns:
        One address, or nothing where apt knows no mirror of that release: debootstrap has one of its own.
    """
    if shutil.which("apt-get") is None:
        return []
    fields = "$(RELEASE) $(COMPONENT) $(REPO_URI)"
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"], capture_output=True, text=True
    )
    for line in done.stdout.splitlines():
        release, component, address = line.split(" ", 2)
        if (release, component) == (suite, "main") and "security" not in address:
            return [address.rstrip("/")]
    return []


def _proxies(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.lower() in ("http_proxy", "https_proxy")}
