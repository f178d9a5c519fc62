"""Child processes that cannot outlive the harness.

Every process of a run carries the run's marker in its environment, inherited by whatever it starts
itself, detached daemons included. A run that was killed with SIGKILL leaves its marker behind, and
the next run finds the processes by it.
"""

import os
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import psutil

from kuberay_toolchain.processes import die_with_parent

MARKER = "KUBERAY_E2E_RUN"
"""Environment variable that names the run a process belongs to."""


def spawn(
    command: Sequence[str],
    *,
    marker: str,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, its output appended to a log file.

    Args:
        command: The program and its arguments.
        marker: The run the process belongs to, see `MARKER`.
        log: File that receives standard output and standard error.
        env: The whole environment; default: this process's own.
        cwd: Working folder.

    Returns:
        The running process. The caller ends it with `end`.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**(os.environ if env is None else env), MARKER: marker},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )


def end(process: subprocess.Popen[bytes], *, patience: float = 5.0) -> None:
    """End a process started by `spawn` and its session: SIGTERM, then SIGKILL after `patience` seconds."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            kill(process)
    process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL a process and wait until the kernel has ended it."""
    if process.poll() is None:
        process.kill()
    process.wait()


def marked(marker: str, spare: Collection[str] = ()) -> list[psutil.Process]:
    """List the living processes that carry a run's marker, this process and programs called as in `spare` excepted."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            if process.environ().get(MARKER) != marker or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.name() not in spare:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def reap(marker: str, *, patience: float = 3.0, spare: Collection[str] = ()) -> list[str]:
    """End every process that carries a run's marker.

    Args:
        marker: The run whose processes are to end.
        patience: Seconds between SIGTERM and SIGKILL.
        spare: Names of programs that are left alone.

    Returns:
        A line "name (pid)" for each process that was found.
    """
    found = marked(marker, spare)
    lines = []
    for process in found:
        try:
            lines.append(f"{process.name()} ({process.pid})")
            process.terminate()
        except psutil.Error:
            continue
    psutil.wait_procs(found, timeout=patience)
    deadline = time.monotonic() + 10
    while (left := marked(marker, spare)) and time.monotonic() < deadline:
        for process in left:
            try:
                process.kill()
            except psutil.Error:
                continue
        psutil.wait_procs(left, timeout=1)
    return lines
