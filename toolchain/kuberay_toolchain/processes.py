"""Child processes that never outlive this one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(ending: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel end this process when the thread that started it ends; for `preexec_fn`.

    Where the platform has no such call (only Linux has), nothing happens.

    Args:
        ending: The signal; one that can be caught lets the process clean up.
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, ending, 0, 0, 0)


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    on_line: Callable[[str], None],
    tick: Callable[[], None] = lambda: None,
    tick_seconds: float = 0.5,
) -> int:
    """Run a command to its end and hand over its output, standard output and error together, by line.

    The command leads a process group of its own, which is killed when an exception ends this function.

    Args:
        command: The program and its arguments.
        cwd: Its working directory.
        env: Its whole environment.
        on_line: Called with each line, without the line end.
        tick: Called at least every `tick_seconds`, output or not.
        tick_seconds: See `tick`.

    Returns:
        Its exit code; negative: the signal that ended it.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
    assert process.stdout is not None
    try:
        with process.stdout as output, selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            pending, ticked = b"", 0.0
            while True:
                if selector.select(tick_seconds):
                    data = os.read(output.fileno(), 65536)
                    if not data:
                        break
                    *lines, pending = (pending + data).split(b"\n")
                    for line in lines:
                        on_line(line.decode(errors="replace"))
                if time.monotonic() - ticked >= tick_seconds:
                    ticked = time.monotonic()
                    tick()
            if pending:
                on_line(pending.decode(errors="replace"))
        return process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
