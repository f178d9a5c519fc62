"""Ends of a command by signal: everything is stopped first, and a second signal does not break that."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

INTERRUPTED = 130
"""Exit code of a command that a signal ended."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first SIGINT, SIGTERM or SIGHUP inside the block, and ignore later ones.

    What is being cleaned up after the first signal is thus cleaned up to its end.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}

    def interrupt(number: int, _: FrameType | None) -> None:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt(signal.Signals(number).name)

    for number in _ENDING:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
