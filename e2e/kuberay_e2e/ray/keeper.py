"""A program that runs another one and lets nothing of it survive.

    python -I -S keeper.py COMMAND [ARGUMENT ...]

The keeper is the child subreaper of whatever the command starts (prctl(2), PR_SET_CHILD_SUBREAPER): a process that
detaches from its parent becomes the keeper's child instead of init's. So the keeper knows them all, without a marker
that a process could lose. It ends them all with SIGKILL when the command ends, when its own standard input is closed,
which the kernel does when the program that started it dies, or on SIGTERM.

It exits with the command's exit code, 128 + N where signal N ended the command, 127 where it cannot be run, and 137
where the keeper ended it. Only Linux has subreapers; elsewhere detached processes are not found.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ENDED = 128 + signal.SIGKILL


def main(command: list[str]) -> int:
    """Run a command to its end or the keeper's; returns the exit code."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wakeup, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    told = False

    def tell(_number: int, _frame: FrameType | None) -> None:
        nonlocal told
        told = True

    signal.signal(signal.SIGTERM, tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = _spawn(command)
    code: int | None = None
    while code is None and not told:
        readable, _, _ = select.select([0, wakeup], [], [])
        if wakeup in readable:
            os.read(wakeup, 512)
        if 0 in readable and not os.read(0, 512):
            told = True
        code = _reap(child)
    _end_all()
    return _ENDED if code is None else code


def _spawn(command: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.execvp(command[0], command)
    except OSError as error:
        print(f"Cannot run {command[0]}: {error}.", file=sys.stderr, flush=True)
    finally:
        os._exit(127)


def _reap(child: int) -> int | None:
    """Take the ended children off the process table; returns the exit code of `child` if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                ended = os.waitstatus_to_exitcode(status)
                code = 128 - ended if ended < 0 else ended
    return code


def _end_all() -> None:
    while True:
        for pid in _descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found: list[int] = []
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
