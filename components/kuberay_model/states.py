"""The status fields of a RayJob and the transitions that the operator makes between their values.

Source: `Reconcile` and `checkBackoffLimitAndUpdateStatusIfNeeded` in `controllers/ray/rayjob_controller.go`
v1.6.2, and `apis/ray/v1/rayjob_types.go`; v1.5.2 and v1.7.0 have the same transitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class JobStatus(StrEnum):
    """`status.jobStatus`: what Ray says about the job."""

    NEW = ""
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        """Whether Ray never leaves this status."""
        return self in _TERMINAL


_TERMINAL = frozenset({JobStatus.STOPPED, JobStatus.SUCCEEDED, JobStatus.FAILED})


class JobDeploymentStatus(StrEnum):
    """`status.jobDeploymentStatus`: what the operator is doing for the RayJob."""

    NEW = ""
    INITIALIZING = "Initializing"
    WAITING = "Waiting"
    RUNNING = "Running"
    COMPLETE = "Complete"
    FAILED = "Failed"
    VALIDATION_FAILED = "ValidationFailed"
    SUSPENDING = "Suspending"
    SUSPENDED = "Suspended"
    RETRYING = "Retrying"

    @property
    def terminal(self) -> bool:
        """Whether the RayJob is over; ValidationFailed stays even if the spec is mended."""
        return self in _OVER


class Reason(StrEnum):
    """`status.reason`: why `jobDeploymentStatus` is Failed, Retrying or ValidationFailed."""

    NONE = ""
    SUBMISSION_FAILED = "SubmissionFailed"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    PRE_RUNNING_DEADLINE_EXCEEDED = "PreRunningDeadlineExceeded"
    APP_FAILED = "AppFailed"
    TRANSITION_GRACE_PERIOD_EXCEEDED = "JobDeploymentStatusTransitionGracePeriodExceeded"
    JOB_STATUS_CHECK_TIMEOUT_EXCEEDED = "JobStatusCheckTimeoutExceeded"
    VALIDATION_FAILED = "ValidationFailed"


NOT_RETRIED = frozenset({Reason.DEADLINE_EXCEEDED, Reason.JOB_STATUS_CHECK_TIMEOUT_EXCEEDED})
"""Reasons that end a RayJob although `backoffLimit` would allow another attempt."""

_D = JobDeploymentStatus

TRANSITIONS: Mapping[JobDeploymentStatus, frozenset[JobDeploymentStatus]] = {
    _D.NEW: frozenset({_D.INITIALIZING, _D.VALIDATION_FAILED}),
    _D.INITIALIZING: frozenset({_D.RUNNING, _D.WAITING, _D.SUSPENDING, _D.FAILED, _D.RETRYING, _D.VALIDATION_FAILED}),
    _D.WAITING: frozenset({_D.RUNNING, _D.FAILED, _D.VALIDATION_FAILED}),
    _D.RUNNING: frozenset({_D.COMPLETE, _D.FAILED, _D.RETRYING, _D.SUSPENDING, _D.VALIDATION_FAILED}),
    _D.SUSPENDING: frozenset({_D.SUSPENDED, _D.VALIDATION_FAILED}),
    _D.SUSPENDED: frozenset({_D.NEW, _D.VALIDATION_FAILED}),
    _D.RETRYING: frozenset({_D.NEW, _D.VALIDATION_FAILED}),
    _D.COMPLETE: frozenset({_D.VALIDATION_FAILED}),
    _D.FAILED: frozenset({_D.VALIDATION_FAILED}),
    _D.VALIDATION_FAILED: frozenset(),
}
"""Every change of `jobDeploymentStatus` that one status write of the operator can make.

InteractiveMode excludes retries (J25), so Waiting never becomes Retrying. ValidationFailed is reached from
everywhere, a finished RayJob included: each reconcile validates first.
"""

_OVER = frozenset({_D.COMPLETE, _D.FAILED, _D.VALIDATION_FAILED})
_ORDER = {JobStatus.NEW: 0, JobStatus.PENDING: 1, JobStatus.RUNNING: 2}
_ATTEMPT_ENDS = frozenset({_D.SUSPENDED, _D.NEW})


def legal(before: str, after: str) -> bool:
    """Tell whether one status write may change `jobDeploymentStatus` from `before` to `after`.

    A write that leaves it as it is (progress of `jobStatus` or of the RayCluster's status) is legal. A
    deletion of the RayJob is no status write: the object is gone afterwards, and nothing follows.

    Args:
        before: `jobDeploymentStatus` of the stored object, `""` for a new RayJob.
        after: `jobDeploymentStatus` that is written.

    Raises:
        ValueError: One of them is no value of `JobDeploymentStatus`.
    """
    old, new = JobDeploymentStatus(before), JobDeploymentStatus(after)
    return old == new or new in TRANSITIONS[old]


def job_status_legal(before: str, after: str, *, deployment_status: str = _D.RUNNING) -> bool:
    """Tell whether one status write may change `jobStatus` from `before` to `after`.

    Within an attempt it only moves forward, `""`, PENDING, RUNNING, and then one of STOPPED, SUCCEEDED and
    FAILED, which stays. The write that ends an attempt (to Suspended or back to New) clears it. The operator
    can break this: a submitter that finished more than 30 seconds ago makes it write FAILED over SUCCEEDED.

    Args:
        before: `jobStatus` of the stored object, `""` before the job was seen.
        after: `jobStatus` that is written.
        deployment_status: `jobDeploymentStatus` that the same write sets. Default Running.

    Raises:
        ValueError: An argument is no value of its enum.
    """
    old, new = JobStatus(before), JobStatus(after)
    if old == new:
        return True
    if new is JobStatus.NEW:
        return JobDeploymentStatus(deployment_status) in _ATTEMPT_ENDS
    if old.terminal:
        return False
    return new.terminal or _ORDER[new] > _ORDER[old]
