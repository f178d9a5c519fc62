"""Progress of long work: a live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import Protocol, TextIO


class Progress(Protocol):
    """Hears about long work. Calls may come many times a second; implementations thin them out."""

    def update(self, task: str, detail: str) -> None:
        """Say that `task` goes on; `detail` tells how far it is."""

    def finish(self, task: str, outcome: str) -> None:
        """Say that `task` has ended, with its `outcome` in a few words."""


class Silent:
    """Progress that nobody hears."""

    def update(self, task: str, detail: str) -> None:
        """Ignore it."""

    def finish(self, task: str, outcome: str) -> None:
        """Ignore it."""


class Console:
    """Progress on a text stream.

    Args:
        stream: Where to write; default: standard error.
        interval: Seconds between two lines of one task where the stream is not a terminal.
        clock: Seconds from a fixed point; for tests.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        interval: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._interval = 0.2 if self._live else interval
        self._clock = clock
        self._started: dict[str, float] = {}
        self._written: dict[str, float] = {}

    def update(self, task: str, detail: str) -> None:
        """Write the task, its elapsed time and `detail`, if the last line is old enough."""
        now = self._clock()
        self._started.setdefault(task, now)
        if task in self._written and now - self._written[task] < self._interval:
            return
        self._written[task] = now
        self._write(f"{task} [{elapsed(now - self._started[task])}] {detail}", end="" if self._live else "\n")

    def finish(self, task: str, outcome: str) -> None:
        """Write the task, the time that it took and its outcome."""
        now = self._clock()
        started = self._started.pop(task, now)
        self._written.pop(task, None)
        self._write(f"{task} [{elapsed(now - started)}] {outcome}", end="\n")

    def _write(self, text: str, end: str) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            shown = text if end or len(text) <= width else f"{text[: width - 1]}…"
            self._stream.write(f"\r\x1b[K{shown}{end}")
        else:
            self._stream.write(f"{text}{end}")
        self._stream.flush()


def elapsed(seconds: float) -> str:
    """Write a duration in seconds as minutes and seconds: `0:07`, `12:30`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
