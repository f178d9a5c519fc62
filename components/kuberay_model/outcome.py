"""One value from a RayJob's status: how it stands or how it ended.

A RayJob has two statuses that are easy to misread: `jobDeploymentStatus` Complete says only that the operator
is done, and a job stopped by hand is Complete as well. Only `jobStatus` SUCCEEDED is success.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kuberay_model.states import JobDeploymentStatus, JobStatus


class Kind(StrEnum):
    """How a RayJob stands."""

    NEW = "New"
    INITIALIZING = "Initializing"
    WAITING = "Waiting"
    QUEUED = "Queued"
    RUNNING = "Running"
    RETRYING = "Retrying"
    SUCCEEDED = "Succeeded"
    STOPPED = "Stopped"
    FAILED = "Failed"
    INVALID = "Invalid"
    STUCK = "Stuck"
    UNKNOWN = "Unknown"


@dataclass(frozen=True)
class Outcome:
    """How a RayJob stands or ended.

    Attributes:
        kind: The one value.
        sentence: The same for a human, with the reason where there is one.
        reason: `status.reason` such as AppFailed or DeadlineExceeded, and while it waits for its RayCluster that of
            the condition that is not met, such as ContainersNotReady; empty if there is none.
        message: `status.message`, as the operator or Ray wrote it, or that of the condition; empty if there is none.
        terminal: Whether the operator changes nothing of it any more.
    """

    kind: Kind
    sentence: str
    reason: str = ""
    message: str = ""
    terminal: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether Ray reported SUCCEEDED and the operator is done."""
        return self.kind is Kind.SUCCEEDED


PATIENCE_SECONDS: Mapping[JobDeploymentStatus, float] = {
    JobDeploymentStatus.NEW: 120.0,
    JobDeploymentStatus.INITIALIZING: 1800.0,
    JobDeploymentStatus.RETRYING: 600.0,
    JobDeploymentStatus.SUSPENDING: 600.0,
}
"""Seconds that a RayJob may stay in a status before `stuck` says so; in the others it may stay for ever."""

ENDING_PATIENCE_SECONDS = 420.0
"""Seconds that a RayJob may be Running after Ray has reported its end; the operator gives up after 300 seconds."""

_REMEDIES: Mapping[JobDeploymentStatus, str] = {
    JobDeploymentStatus.NEW: "check that the operator runs and watches this namespace",
    JobDeploymentStatus.INITIALIZING: "look at the pods and events of its RayCluster: images, quota, node selectors",
    JobDeploymentStatus.RETRYING: "look at what keeps the RayCluster and the submitter of the last attempt",
    JobDeploymentStatus.SUSPENDING: "look at what keeps its RayCluster and its submitter",
    JobDeploymentStatus.RUNNING: "look at the submitter and at the log of the operator",
}

_UNFINISHED: Mapping[JobDeploymentStatus, tuple[Kind, str]] = {
    JobDeploymentStatus.NEW: (Kind.NEW, "has not been seen by the operator yet"),
    JobDeploymentStatus.INITIALIZING: (Kind.INITIALIZING, "waits for its RayCluster to become ready"),
    JobDeploymentStatus.WAITING: (Kind.WAITING, "waits for a user to submit a job and to set spec.jobId"),
    JobDeploymentStatus.RETRYING: (Kind.RETRYING, "failed and is cleaned up before the next attempt"),
    JobDeploymentStatus.SUSPENDING: (Kind.QUEUED, "gives its resources back because it is being suspended"),
    JobDeploymentStatus.SUSPENDED: (
        Kind.QUEUED,
        "is suspended until its queue admits it or spec.suspend is false",
    ),
}

_PROGRESS: Mapping[JobStatus, str] = {
    JobStatus.NEW: "is running; Ray has not reported the job yet",
    JobStatus.PENDING: "is running; Ray has the job pending",
    JobStatus.RUNNING: "is running",
    JobStatus.SUCCEEDED: "has succeeded in Ray; the operator waits for the submitter to finish",
    JobStatus.FAILED: "has failed in Ray; the operator waits for the submitter to finish",
    JobStatus.STOPPED: "was stopped in Ray; the operator waits for the submitter to finish",
}


NOT_READY: Mapping[str, str] = {"ReplicaFailure": "True", "HeadPodReady": "False"}
"""Conditions of a RayCluster that keep it from being ready, and the value with which they do."""


def outcome(rayjob: Mapping[str, Any]) -> Outcome:
    """Read the outcome of a RayJob.

    Args:
        rayjob: The RayJob as the API server returns it. A missing status is that of a new RayJob. A suspended
            RayJob is queued even before the operator has reported it.

    Returns:
        The outcome. A status value that no supported version writes gives `Kind.UNKNOWN`, never a success.
    """
    name = _text(_mapping(rayjob.get("metadata")).get("name"))
    subject = f"RayJob {name}" if name else "The RayJob"
    status = _mapping(rayjob.get("status"))
    job, deployment = _text(status.get("jobStatus")), _text(status.get("jobDeploymentStatus"))
    try:
        job_status, deployment_status = JobStatus(job), JobDeploymentStatus(deployment)
    except ValueError:
        return Outcome(
            Kind.UNKNOWN,
            f"{subject} has the unknown status {deployment or 'New'}, jobStatus {job or 'unset'}.",
        )
    reason, message = _text(status.get("reason")), _text(status.get("message"))
    suspended = _mapping(rayjob.get("spec")).get("suspend") is True
    if deployment_status is JobDeploymentStatus.INITIALIZING and not reason:
        reason, message = _why_not_ready(_mapping(status.get("rayClusterStatus")))
    return _read(subject, job_status, deployment_status, reason, message, suspended=suspended)


def _why_not_ready(cluster: Mapping[str, Any]) -> tuple[str, str]:
    """Return reason and message of what keeps a RayCluster from being ready; both empty if it does not say."""
    found = cluster.get("conditions")
    conditions = [_mapping(item) for item in found] if isinstance(found, list | tuple) else []
    by_type = {_text(condition.get("type")): condition for condition in conditions}
    for name, bad in NOT_READY.items():
        condition = by_type.get(name, {})
        if condition.get("status") == bad and _text(condition.get("reason")):
            return _text(condition.get("reason")), _text(condition.get("message"))
    return "", ""


def stuck(rayjob: Mapping[str, Any], unchanged_seconds: float) -> Outcome:
    """Read the outcome of a RayJob that has not changed for a while.

    Args:
        rayjob: The RayJob as the API server returns it.
        unchanged_seconds: For how long its jobStatus and jobDeploymentStatus have been what they are, seconds. The
            status does not say it, so whoever watches must.

    Returns:
        The outcome, of `Kind.STUCK` if nothing that takes so long is to be expected: see `PATIENCE_SECONDS`. A RayJob
        that waits in a queue or for a user, or whose job runs, is never stuck.
    """
    seen = outcome(rayjob)
    status = _mapping(rayjob.get("status"))
    deployment = _text(status.get("jobDeploymentStatus"))
    patience = _patience(deployment, _text(status.get("jobStatus")))
    if seen.terminal or seen.kind in (Kind.UNKNOWN, Kind.WAITING) or patience is None or unchanged_seconds <= patience:
        return seen
    if seen.kind is Kind.QUEUED and deployment != JobDeploymentStatus.SUSPENDING:
        return seen
    sentence = (
        f"{seen.sentence.rstrip('.')}. That has been so for {unchanged_seconds:.0f} s; "
        f"{_REMEDIES[JobDeploymentStatus(deployment)]}."
    )
    return Outcome(Kind.STUCK, sentence, seen.reason, seen.message)


def _patience(deployment: str, job: str) -> float | None:
    if deployment == JobDeploymentStatus.RUNNING:
        return ENDING_PATIENCE_SECONDS if job in {item for item in JobStatus if item.terminal} else None
    return next((seconds for status, seconds in PATIENCE_SECONDS.items() if status == deployment), None)


def _read(
    subject: str,
    job: JobStatus,
    deployment: JobDeploymentStatus,
    reason: str,
    message: str,
    *,
    suspended: bool,
) -> Outcome:
    if deployment is JobDeploymentStatus.VALIDATION_FAILED:
        sentence = (
            f"{subject} is invalid and stays so even if its spec is mended; delete it and create it anew"
            f"{_because(reason='', message=message)}"
        )
        return Outcome(Kind.INVALID, sentence, reason, message, terminal=True)
    if deployment is JobDeploymentStatus.FAILED:
        return Outcome(Kind.FAILED, f"{subject} failed{_because(reason, message)}", reason, message, terminal=True)
    if deployment is JobDeploymentStatus.COMPLETE:
        return _complete(subject, job, reason, message)
    if deployment is JobDeploymentStatus.RUNNING:
        return Outcome(Kind.RUNNING, f"{subject} {_PROGRESS[job]}.", reason, message)
    kind, what = _UNFINISHED[deployment]
    if suspended and kind in (Kind.NEW, Kind.INITIALIZING):
        kind, what = _UNFINISHED[JobDeploymentStatus.SUSPENDED]
    sentence = f"{subject} {what}{_because(reason, message)}" if reason else f"{subject} {what}."
    return Outcome(kind, sentence, reason, message)


def _complete(subject: str, job: JobStatus, reason: str, message: str) -> Outcome:
    if job is JobStatus.SUCCEEDED:
        return Outcome(Kind.SUCCEEDED, f"{subject} succeeded.", reason, message, terminal=True)
    if job is JobStatus.STOPPED:
        return Outcome(Kind.STOPPED, f"{subject} was stopped before it finished.", reason, message, terminal=True)
    sentence = f"{subject} is Complete although its jobStatus is {job or 'unset'}; that is no success."
    return Outcome(Kind.FAILED, sentence, reason, message, terminal=True)


def _because(reason: str, message: str) -> str:
    text = message.strip().rstrip(".")
    if reason and text:
        return f" with reason {reason}: {text}."
    if reason:
        return f" with reason {reason}."
    return f": {text}." if text else "."


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
