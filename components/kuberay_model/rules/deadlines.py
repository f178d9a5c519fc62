"""Rules on deadlines and retries, and the one rule on the status."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import integer
from kuberay_model.states import JobDeploymentStatus
from kuberay_model.versions import Version


def _not_positive(job: Job, field: str, meaning: str) -> Iterator[Problem]:
    if (seconds := integer(job.spec.get(field))) is not None and seconds <= 0:
        yield Problem(
            f"spec.{field}",
            f"{field} is {seconds}, and it must be at least 1.",
            f"Set the seconds that {meaning}, or remove it for no deadline.",
        )


@rule("J32", "activeDeadlineSeconds is positive")
def active_deadline(job: Job) -> Iterator[Problem]:
    """Check the sign."""
    return _not_positive(job, "activeDeadlineSeconds", "an attempt may take")


@rule("J33", "preRunningDeadlineSeconds is positive", since=Version(1, 6))
def pre_running_deadline(job: Job) -> Iterator[Problem]:
    """Check the sign."""
    return _not_positive(job, "preRunningDeadlineSeconds", "the RayJob may take until it is Running")


@rule("J34", "backoffLimit is not negative")
def backoff_limit(job: Job) -> Iterator[Problem]:
    """Check the sign; the operator's message says positive, but 0 is accepted."""
    if job.backoff_limit < 0:
        yield Problem(
            "spec.backoffLimit",
            f"backoffLimit is {job.backoff_limit}, and it may not be negative.",
            "Use 0 for no retry, or a number of retries.",
        )


@rule("J35", "Only a RayJob in InteractiveMode is Waiting")
def waiting(job: Job) -> Iterator[Problem]:
    """The mode was edited while the RayJob waited for its job."""
    if job.status.get("jobDeploymentStatus") == JobDeploymentStatus.WAITING and job.mode != "InteractiveMode":
        yield Problem(
            "spec.submissionMode",
            f"The RayJob waits for a job submitted by hand, but submissionMode is {job.mode}.",
            "Delete the RayJob and create it anew instead of editing the mode.",
        )
