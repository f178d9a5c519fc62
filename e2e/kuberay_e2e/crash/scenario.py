"""A scenario: a RayJob, what its job does, and what its user does meanwhile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kuberay_e2e.crash.view import View
from kuberay_e2e.ray import Script

Condition = Callable[[View], bool]


class Act(StrEnum):
    """What a user does to a RayJob."""

    DELETE = "delete"
    SUSPEND = "suspend"
    RESUME = "resume"
    SET_JOB_ID = "set jobId"
    STOP_JOB = "stop the job"
    SUBMIT = "submit the job"


@dataclass(frozen=True)
class Action:
    """Something that the user does once a condition holds.

    Attributes:
        act: What is done.
        when: When it is done.
    """

    act: Act
    when: Condition


@dataclass(frozen=True)
class Expected:
    """What a scenario comes to without a fault, and must come to with one.

    Attributes:
        job_status: `status.jobStatus` in the end; empty where Ray was never asked.
        deployment_status: `status.jobDeploymentStatus` in the end.
        reason: `status.reason` in the end.
        attempts: How many RayClusters are made, each with its own job id.
        starts: How often the entrypoint runs.
        succeeded: `status.succeeded`.
        failed: `status.failed`.
        stopped: Whether Ray is asked to stop the job.
    """

    job_status: str = "SUCCEEDED"
    deployment_status: str = "Complete"
    reason: str = ""
    attempts: int = 1
    starts: int = 1
    succeeded: int = 1
    failed: int = 0
    stopped: bool = False


@dataclass(frozen=True)
class Scenario:
    """A RayJob and what happens to it.

    Attributes:
        name: Its name on the command line.
        sentence: What it is, in a sentence.
        spec: Fields of the RayJob's spec, laid over a small RayJob with one worker.
        script: What each attempt of the job does, the last one repeated.
        actions: What the user does, one after the other.
        goal: Holds when the scenario has come to its end; the RayJob is deleted after it.
        expected: What it comes to.
        ttl_seconds: Seconds from the end until the RayCluster is to go; None where it stays.
        patience: Seconds that the goal may take without a fault.
    """

    name: str
    sentence: str
    goal: Condition
    spec: Mapping[str, Any] = field(default_factory=dict)
    script: tuple[Script, ...] = (Script(duration=0.5),)
    actions: tuple[Action, ...] = ()
    expected: Expected = Expected()
    ttl_seconds: int | None = None
    patience: float = 60.0

    @property
    def mode(self) -> str:
        """The submission mode."""
        return str(self.spec.get("submissionMode", "K8sJobMode"))

    @property
    def has_submitter(self) -> bool:
        """Whether the operator makes a submitter Job."""
        return self.mode == "K8sJobMode"


def ended(view: View) -> bool:
    """The RayJob is over."""
    return view.now(jobDeploymentStatus="Complete") or view.now(jobDeploymentStatus="Failed")


def cluster_gone(view: View) -> bool:
    """The RayJob is over and no RayCluster and no pod of one is left."""
    return ended(view) and not view.alive("RayCluster")


def rayjob_gone(view: View) -> bool:
    """The RayJob existed and has gone."""
    return view.gone


def state(**fields: str) -> Condition:
    """The RayJob's status has these values now."""
    return lambda view: view.now(**fields)


def ever(**fields: str) -> Condition:
    """The RayJob's status had these values at some time."""
    return lambda view: view.seen(**fields)
