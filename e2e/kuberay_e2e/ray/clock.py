"""Time as a thing that can be replaced."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Where simulated jobs take their time from."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed on this clock."""
        ...


class WallClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed."""
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that stands still until it is told to advance: for tests.

    Args:
        start: Where it begins, in seconds since the epoch.
    """

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Seconds since the epoch, as told."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Return when the clock has been advanced by `seconds`."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + seconds, woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Let time pass, waking sleepers in order, each at its own moment."""
        end = self._now + seconds
        await _settle()
        while due := sorted((s for s in self._sleepers if s[0] <= end), key=lambda s: s[0]):
            moment, woken = due[0]
            self._sleepers.remove(due[0])
            self._now = moment
            if not woken.done():
                woken.set_result(None)
            await _settle()
        self._now = end


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)
