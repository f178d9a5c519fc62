"""``pulumi up`` waits for a RayJob, and fails when the job has failed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from kuberay_model.outcome import outcome
from kuberay_model.waiter import DEFAULT_LOG_LINES, WaitGoal, reached, with_log
from pulumi_kuberay.cluster_reader import told
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.objects import WAIT_FOR_ANNOTATION

DEFAULT_TIMEOUT_SECONDS = 3600


@dataclass(kw_only=True)
class Wait:
    """What ``pulumi up`` waits for. `submitted` and `finished` of this module make it."""

    until: WaitGoal
    """``submitted``: Ray has the job. ``finished``: the job has succeeded. If it has failed, ``pulumi up`` fails with
    the reason, the message and the last lines of the submitter's log."""

    timeout_seconds: int | None = None
    """Seconds to wait at most, 1 or more, the time in a queue included. Default: 3600."""


class RayJobError(pulumi.RunError):
    """A RayJob that was waited for and has not reached its goal."""


def submitted(timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS) -> Wait:
    """Wait until Ray has the job."""
    return Wait(until=WaitGoal.SUBMITTED, timeout_seconds=timeout_seconds)


def finished(timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS) -> Wait:
    """Wait until the job has succeeded."""
    return Wait(until=WaitGoal.FINISHED, timeout_seconds=timeout_seconds)


_ENDS = ("Complete", "Failed", "ValidationFailed")
_KNOWN_TO_RAY = ("PENDING", "RUNNING", "SUCCEEDED", "STOPPED", "FAILED")
_VALUES: Mapping[WaitGoal, tuple[str, ...]] = {
    WaitGoal.SUBMITTED: (*_KNOWN_TO_RAY, *_ENDS),
    WaitGoal.FINISHED: _ENDS,
}
"""Values of the status at which a wait is over, one way or the other."""


def wait_annotations(wait: Wait | None) -> dict[str, str]:
    """Return the annotations by which Pulumi's provider waits.

    The provider knows no failure that ends a wait, so it waits for the end, whatever it is; `judged` tells which.
    """
    if wait is None:
        return {}
    tests = " || ".join(f"@ == '{value}'" for value in _VALUES[WaitGoal(wait.until)])
    return {WAIT_FOR_ANNOTATION: f"jsonpath={{.status[?{tests}]}}"}


def wait_timeouts(wait: Wait | None) -> pulumi.CustomTimeouts | None:
    """Return the timeouts of the resource that waits.

    Raises:
        ArgumentError: The time is not positive.
    """
    if wait is None:
        return None
    seconds = DEFAULT_TIMEOUT_SECONDS if wait.timeout_seconds is None else int(wait.timeout_seconds)
    if seconds < 1:
        raise ArgumentError(f"The timeout_seconds of a wait must be 1 or more, but it is {wait.timeout_seconds}.")
    return pulumi.CustomTimeouts(create=f"{seconds}s", update=f"{seconds}s")


async def judged(rayjob: Mapping[str, Any], wait: Wait | None) -> str:
    """Return how a RayJob stands: a `Kind` of `kuberay_model.outcome`, such as ``Succeeded``.

    Args:
        rayjob: The RayJob as Pulumi's provider returned it.
        wait: What was waited for.

    Raises:
        RayJobError: It was waited for and has ended otherwise; not at a preview, which changes nothing.
    """
    seen = outcome(rayjob)
    if wait is None or pulumi.runtime.is_dry_run() or reached(seen, rayjob, WaitGoal(wait.until)):
        return seen.kind
    raise RayJobError(with_log(*await told(seen, rayjob, DEFAULT_LOG_LINES)))
