"""Whether a sweep can go on: its control plane lives, there is room on the disk, and nobody has stopped it."""

import errno
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from kuberay_e2e.errors import HarnessError

_INTERVAL_SECONDS = 0.5
_ROOM = 64 << 20
"""Bytes that a few runs need."""


class SweepError(HarnessError):
    """The sweep cannot go on, whatever the runs that are going on would have come to."""


class ControlPlaneGone(SweepError):
    """A program of the control plane has ended."""


class Stopped(SweepError):
    """Somebody wants the sweep to end."""


class Health:
    """Looked at by every run, several times a second.

    Args:
        folder: Where runs keep their files.
        gone: The program of the control plane that has ended; empty while all live.
    """

    def __init__(self, folder: Path, gone: Callable[[], str] = lambda: "") -> None:
        self._folder = folder
        self._gone = gone
        self._lock = threading.Lock()
        self._looked = float("-inf")
        self._error: SweepError | None = None

    def stop(self) -> None:
        """Let every run end at its next look."""
        self._error = self._error or Stopped("The sweep was stopped.")

    def check(self) -> None:
        """Look, if that was not done within half a second.

        Raises:
            SweepError: The sweep cannot go on; said again at each later look.
        """
        with self._lock:
            if self._error is None and time.monotonic() - self._looked >= _INTERVAL_SECONDS:
                self._looked = time.monotonic()
                self._error = self._look()
        if self._error is not None:
            raise self._error

    def _look(self) -> SweepError | None:
        if program := self._gone():
            return ControlPlaneGone(f"The program {program} of the control plane has ended.")
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError:
            return None
        return SweepError(no_space(self._folder, f"{free >> 20} MiB are left")) if free < _ROOM else None


def no_space(folder: Path, why: object) -> str:
    """What is said when a file system is full."""
    return (
        f"Expected room for the files of a run in {folder}: {why}. Free some space and give the same command again: "
        "what has a result is not run again."
    )


def is_full(error: OSError) -> bool:
    """True where an error says that a file system or a quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
