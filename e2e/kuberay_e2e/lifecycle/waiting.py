"""Waiting for a condition, with the reason why it does not hold yet."""

import time
from collections.abc import Callable
from typing import TypeVar

from kuberay_e2e.errors import VerificationError

T = TypeVar("T")


class NotYetError(Exception):
    """The condition does not hold yet; the message says what was seen instead."""


def wait_for(expected: str, look: Callable[[], T], *, seconds: float, pause: float = 0.1) -> T:
    """Look until a condition holds.

    Args:
        expected: What is waited for, as the end of "Expected …".
        look: Returns the value once the condition holds, else raises `NotYetError`.
        seconds: How long to wait.
        pause: Seconds between two looks.

    Raises:
        VerificationError: It did not hold in time; the message says what was seen last.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return look()
        except NotYetError as reason:
            if time.monotonic() > deadline:
                raise VerificationError(f"Expected {expected} within {seconds:.0f} s; saw {reason}.") from None
        time.sleep(pause)
