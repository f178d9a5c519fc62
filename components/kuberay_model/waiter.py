"""Waiting for a RayJob: until Ray has the job, or until it has ended, and at once when it has failed.

`Watch` decides, from one look at a time; `wait` and `wait_async` look, through a `Reader` or an `AsyncReader`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from kuberay_model.outcome import Outcome, outcome, stuck

DEFAULT_PAUSE_SECONDS = 1.0
DEFAULT_LOG_LINES = 20

RayJob = Mapping[str, Any]


class WaitGoal(StrEnum):
    """What is waited for."""

    SUBMITTED = "submitted"
    """Ray has the job: `status.jobStatus` is set. A RayJob that retries is submitted."""

    FINISHED = "finished"
    """The job has succeeded."""


class Reader(Protocol):
    """Reads one RayJob."""

    def rayjob(self) -> RayJob | None:
        """Return the RayJob as the API server has it, None if there is none."""

    def log(self, lines: int) -> Sequence[str]:
        """Return the last lines of the submitter's log, none if it has no log."""


class AsyncReader(Protocol):
    """Reads one RayJob, asynchronously. See `Reader`."""

    async def rayjob(self) -> RayJob | None:
        """Return the RayJob as the API server has it, None if there is none."""

    async def log(self, lines: int) -> Sequence[str]:
        """Return the last lines of the submitter's log, none if it has no log."""


class WaitError(Exception):
    """What was waited for does not come, or has not come in time.

    Args:
        outcome: What was seen last; None if there was no RayJob.
        sentence: What happened.
        log: The last lines of the submitter's log.
    """

    def __init__(self, outcome: Outcome | None, sentence: str, log: Iterable[str] = ()) -> None:
        self.outcome = outcome
        self.sentence = sentence
        self.log = tuple(log)
        super().__init__(with_log(sentence, self.log))

    def with_log(self, lines: Iterable[str]) -> WaitError:
        """Return the same error with the end of a log."""
        return type(self)(self.outcome, self.sentence, lines)


class RayJobFailedError(WaitError):
    """The RayJob has failed, was stopped, or is invalid."""


class RayJobGoneError(WaitError):
    """The RayJob was deleted, or another one has taken its name."""


class WaitTimeoutError(WaitError):
    """The time was over."""


class Watch:
    """Looks at one RayJob again and again and decides what that means.

    Args:
        goal: What is waited for.
        timeout_seconds: How long, counted from `started`.
        started: The time at the start, seconds on the clock that `look` is given too.
    """

    def __init__(self, goal: WaitGoal, timeout_seconds: float, started: float) -> None:
        self._goal = WaitGoal(goal)
        self._timeout = timeout_seconds
        self._started = started
        self._changed = started
        self._statuses: tuple[str, str] | None = None
        self._uid = ""

    def look(self, rayjob: RayJob | None, now: float) -> Outcome | None:
        """Take one look.

        Args:
            rayjob: The RayJob as it is now, None if there is none.
            now: The time, seconds.

        Returns:
            The outcome if the goal is reached, None if it is to be waited on.

        Raises:
            RayJobFailedError: It will not be reached.
            RayJobGoneError: There is no RayJob, or another one of the same name.
            WaitTimeoutError: It was not reached in time; the message says what was seen last.
        """
        if rayjob is None:
            raise RayJobGoneError(None, f"The RayJob is gone, and so is how it ended; it was to be {self._goal}.")
        self._refuse_another(rayjob)
        seen = outcome(rayjob)
        if reached(seen, rayjob, self._goal):
            return seen
        if seen.terminal:
            raise RayJobFailedError(seen, seen.sentence)
        self._note(rayjob, now)
        if now - self._started >= self._timeout:
            last = stuck(rayjob, now - self._changed)
            raise WaitTimeoutError(last, f"{last.sentence} It was to be {self._goal} within {self._timeout:.0f} s.")
        return None

    def _refuse_another(self, rayjob: RayJob) -> None:
        metadata = rayjob.get("metadata")
        uid = str(metadata.get("uid") or "") if isinstance(metadata, Mapping) else ""
        self._uid = self._uid or uid
        if uid != self._uid:
            raise RayJobGoneError(None, "The RayJob was deleted while it was waited for, and another one has its name.")

    def _note(self, rayjob: RayJob, now: float) -> None:
        status = rayjob.get("status")
        fields = status if isinstance(status, Mapping) else {}
        statuses = (str(fields.get("jobDeploymentStatus")), str(fields.get("jobStatus")))
        if statuses != self._statuses:
            self._statuses, self._changed = statuses, now


def reached(seen: Outcome, rayjob: RayJob, goal: WaitGoal) -> bool:
    """Tell whether a RayJob has reached a goal."""
    if goal is WaitGoal.FINISHED or seen.terminal:
        return seen.succeeded
    status = rayjob.get("status")
    return isinstance(status, Mapping) and bool(status.get("jobStatus"))


def wait(
    reader: Reader,
    goal: WaitGoal,
    *,
    timeout_seconds: float,
    pause_seconds: float = DEFAULT_PAUSE_SECONDS,
    log_lines: int = DEFAULT_LOG_LINES,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Outcome:
    """Wait until a RayJob has reached a goal.

    Args:
        reader: Reads the RayJob.
        goal: What is waited for.
        timeout_seconds: How long.
        pause_seconds: Seconds between two looks. Default 1.
        log_lines: How many of the submitter's last lines an error shows. Default 20.
        clock: Tells the time, seconds.
        sleep: Lets time pass, seconds.

    Raises:
        WaitError: The goal is not reached; see `Watch.look` for which error tells what. The message ends with the last
            lines of the submitter's log.
    """
    watch = Watch(goal, timeout_seconds, clock())
    while True:
        try:
            seen = watch.look(reader.rayjob(), clock())
        except WaitError as error:
            raise error.with_log(reader.log(log_lines)) from None
        if seen is not None:
            return seen
        sleep(pause_seconds)


async def wait_async(
    reader: AsyncReader,
    goal: WaitGoal,
    *,
    timeout_seconds: float,
    pause_seconds: float = DEFAULT_PAUSE_SECONDS,
    log_lines: int = DEFAULT_LOG_LINES,
) -> Outcome:
    """Wait until a RayJob has reached a goal, asynchronously. See `wait`."""
    watch = Watch(goal, timeout_seconds, time.monotonic())
    while True:
        try:
            seen = watch.look(await reader.rayjob(), time.monotonic())
        except WaitError as error:
            raise error.with_log(await reader.log(log_lines)) from None
        if seen is not None:
            return seen
        await asyncio.sleep(pause_seconds)


def with_log(sentence: str, lines: Sequence[str]) -> str:
    """Return a sentence, followed by the end of the submitter's log if there is one."""
    if not lines:
        return sentence
    return "\n".join([f"{sentence} The submitter's log ends with:", *(f"  {line}" for line in lines)])
