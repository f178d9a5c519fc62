"""Policies on how long a job may take, how often it is tried, and how it is submitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import integer, mapping
from kuberay_model.sentences import listed
from kuberay_model.versions import Version
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.targets import Job, Scope

STATUS_CHECK_TIMEOUT = Version(1, 7)
PRE_RUNNING_DEADLINE = Version(1, 6)


class ActiveDeadline(Parameters):
    """Parameters of P110."""

    max_seconds: Annotated[int | None, Field(gt=0, description="Longest deadline, in seconds. Default none.")] = None


class PreRunningDeadline(Parameters):
    """Parameters of P111."""

    max_seconds: Annotated[int | None, Field(gt=0, description="Longest deadline, in seconds. Default none.")] = None


class Retries(Parameters):
    """Parameters of P112."""

    max_retries: Annotated[int, Field(ge=0, description="Largest backoffLimit of the RayJob. Default 3.")] = 3
    max_submissions: Annotated[
        int, Field(ge=0, description="Largest backoffLimit of the submitter Job. Default 3.")
    ] = 3


class Modes(Parameters):
    """Parameters of P115."""

    allowed: Annotated[
        tuple[str, ...], Field(strict=False, description="Allowed submission modes. Default all: the policy is idle.")
    ] = ()


@policy(
    "P110",
    "active-deadline",
    "A job has a deadline",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    parameters=ActiveDeadline,
    why="A job that hangs, or whose submitter never returns, keeps its RayCluster for ever.",
    sources=("kuberay#3257", "kuberay#4914"),
)
def active_deadline(job: Job, parameters: ActiveDeadline, _: Context) -> Iterator[Problem]:
    """Look at activeDeadlineSeconds."""
    path = f"{job.path}.activeDeadlineSeconds"
    seconds = integer(job.fields.get("activeDeadlineSeconds"))
    if seconds is None:
        yield Problem(
            path,
            "There is no activeDeadlineSeconds, so a job that hangs keeps its RayCluster for ever.",
            "Set activeDeadlineSeconds to the longest time an attempt may take.",
        )
    elif parameters.max_seconds is not None and seconds > parameters.max_seconds:
        yield Problem(path, f"The deadline is {seconds} s.", f"Use at most {parameters.max_seconds} s.")


@policy(
    "P111",
    "pre-running-deadline",
    "A job that does not start in time fails",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    parameters=PreRunningDeadline,
    why="With an image that cannot be pulled, or Pods that fit on no node, a RayJob stays Initializing for ever. "
    "U11 looks at InteractiveMode.",
    sources=("kuberay#4178", "kuberay#4037", "kuberay#1990"),
)
def pre_running_deadline(job: Job, parameters: PreRunningDeadline, context: Context) -> Iterator[Problem]:
    """Look at preRunningDeadlineSeconds, which 1.5 does not have."""
    if context.settings.version < PRE_RUNNING_DEADLINE or job.mode == "InteractiveMode":
        return
    path = f"{job.path}.preRunningDeadlineSeconds"
    seconds = integer(job.fields.get("preRunningDeadlineSeconds"))
    if seconds is None:
        yield Problem(
            path,
            "There is no preRunningDeadlineSeconds, so a RayJob whose Pods never start stays Initializing.",
            "Set preRunningDeadlineSeconds to the longest time that Pods may need to start.",
        )
    elif parameters.max_seconds is not None and seconds > parameters.max_seconds:
        yield Problem(path, f"The deadline is {seconds} s.", f"Use at most {parameters.max_seconds} s.")


@policy(
    "P112",
    "retry-limit",
    "A job is tried a limited number of times",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    parameters=Retries,
    why="Each retry makes a new RayCluster and runs the entrypoint again from its start.",
    sources=("kuberay#2376", "kuberay#2393"),
)
def retry_limit(job: Job, parameters: Retries, _: Context) -> Iterator[Problem]:
    """Compare both backoff limits."""
    submitter = mapping(job.fields.get("submitterConfig"))
    for path, value, most in (
        (f"{job.path}.backoffLimit", job.fields.get("backoffLimit"), parameters.max_retries),
        (f"{job.path}.submitterConfig.backoffLimit", submitter.get("backoffLimit"), parameters.max_submissions),
    ):
        limit = integer(value)
        if limit is not None and limit > most:
            yield Problem(path, f"backoffLimit is {limit}, and at most {most} is allowed.", f"Use {most} or less.")


@policy(
    "P113",
    "deadline-on-existing-cluster",
    "A deadline on an existing RayCluster is not relied on to stop the job",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    why="At the deadline the RayJob becomes Failed, but with clusterSelector the Ray job goes on running.",
    sources=("kuberay#5295",),
)
def deadline_on_existing_cluster(job: Job, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for activeDeadlineSeconds with clusterSelector."""
    if job.selects_cluster and "activeDeadlineSeconds" in job.fields:
        yield Problem(
            f"{job.path}.activeDeadlineSeconds",
            "After the deadline the RayJob is Failed, but the job goes on running on the existing RayCluster.",
            "Delete the RayJob at the deadline, which stops the job, or give it a RayCluster of its own.",
        )


@policy(
    "P114",
    "http-mode-repeats",
    "A job in HTTPMode may run more than once without harm, and ends when its head Pod is lost",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.WARNING,
    why="In HTTPMode the operator submits the job again when the head Pod was replaced, whatever backoffLimit says. "
    "Before KubeRay 1.7 a job whose head Pod is lost for good stays Running.",
    sources=("kuberay#4824", "kuberay#4914"),
)
def http_mode(job: Job, _: Parameters, context: Context) -> Iterator[Problem]:
    """Look for HTTPMode with the risk it has in this version."""
    if job.mode != "HTTPMode":
        return
    if context.settings.version < STATUS_CHECK_TIMEOUT and "activeDeadlineSeconds" not in job.fields:
        yield Problem(
            f"{job.path}.submissionMode",
            "When the head Pod is lost, a RayJob in HTTPMode stays Running for ever.",
            "Set activeDeadlineSeconds, install KubeRay 1.7, or use K8sJobMode.",
        )
    elif integer(job.fields.get("backoffLimit")) in (None, 0):
        yield Problem(
            f"{job.path}.submissionMode",
            "backoffLimit 0 says that the job must not run twice, but in HTTPMode it is submitted again when the "
            "head Pod was replaced.",
            "Use K8sJobMode, or write the job so that it may run twice and waive this policy.",
        )


@policy(
    "P115",
    "submission-mode-allowed",
    "The submission mode is an allowed one",
    family=Family.LIFECYCLE,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    parameters=Modes,
    why="Modes differ in who submits, in what happens when the head Pod is lost, and in what Kueue counts.",
)
def submission_mode(job: Job, parameters: Modes, _: Context) -> Iterator[Problem]:
    """Compare with the parameter."""
    if parameters.allowed and job.mode not in parameters.allowed:
        yield Problem(
            f"{job.path}.submissionMode",
            f"{job.mode} is not allowed here.",
            f"Use {listed(parameters.allowed, 'or')}.",
        )
