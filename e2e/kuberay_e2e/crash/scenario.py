"""A scenario: a RayJob, what its job does, and what its user does meanwhile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kuberay_e2e.crash.cleanup import Cleanup
from kuberay_e2e.crash.view import View
from kuberay_e2e.ray import Script


@dataclass(frozen=True)
class Condition:
    """Something that comes about.

    Attributes:
        sentence: What it is, as a message completes "waited until".
        holds: Whether it has come about.
    """

    sentence: str
    holds: Callable[[View], bool]

    def __call__(self, view: View) -> bool:
        """Whether it has come about."""
        return self.holds(view)


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
        after: Seconds that the user waits before it.
    """

    act: Act
    when: Condition
    after: float = 0.0


@dataclass(frozen=True)
class Expected:
    """What a scenario comes to without a fault, and must come to with one.

    Attributes:
        job_status: `status.jobStatus` in the end; empty where Ray was never asked.
        deployment_status: `status.jobDeploymentStatus` in the end.
        reason: `status.reason` in the end.
        attempts: How many attempts there are, each with a RayCluster name and a job id of its own.
        starts: How often the entrypoint runs.
        succeeded: `status.succeeded`.
        failed: `status.failed`.
        stopped: Whether the operator asks Ray to stop the job.
        clusters: How many RayClusters are made; None: one for each attempt.
        submitters: How many submitter Jobs are made; None: one for each RayCluster where Jobs submit, else none.
    """

    job_status: str = "SUCCEEDED"
    deployment_status: str = "Complete"
    reason: str = ""
    attempts: int = 1
    starts: int = 1
    succeeded: int = 1
    failed: int = 0
    stopped: bool = False
    clusters: int | None = None
    submitters: int | None = None


@dataclass(frozen=True)
class Scenario:
    """A RayJob and what happens to it.

    Attributes:
        name: Its name on the command line.
        sentence: What it is, in a sentence.
        goal: Holds when the scenario has come to its end; the RayJob is deleted after it.
        spec: Fields of the RayJob's spec, laid over a small RayJob with one worker; None takes a field away.
        script: What each attempt of the job does, the last one repeated.
        actions: What the user does, one after the other.
        expected: What it comes to.
        patience: Seconds that the goal may take without a fault.
        manifest: The RayJob as its user wrote it, in the place of the small one; only name, namespace and
            entrypoint become those of the run.
        objects: What the user makes before the RayJob, in the run's namespace, and deletes after it.
        looks: How many of the operator's looks at its job, one after the other, are answered wrongly in turn.
        learns: `expected` is not known yet; it is what the scenario comes to without a fault.
    """

    name: str
    sentence: str
    goal: Condition
    spec: Mapping[str, Any] = field(default_factory=dict)
    script: tuple[Script, ...] = (Script(duration=0.5),)
    actions: tuple[Action, ...] = ()
    expected: Expected = Expected()
    patience: float = 90.0
    manifest: Mapping[str, Any] | None = None
    objects: tuple[Mapping[str, Any], ...] = ()
    looks: int = 0
    learns: bool = False

    @property
    def mode(self) -> str:
        """The submission mode."""
        return str(self.spec.get("submissionMode") or "K8sJobMode")

    @property
    def clusters(self) -> int:
        """How many RayClusters the operator makes for the RayJob."""
        return self.expected.attempts if self.expected.clusters is None else self.expected.clusters

    @property
    def submitters(self) -> int:
        """How many submitter Jobs the operator makes."""
        if self.expected.submitters is not None:
            return self.expected.submitters
        return self.clusters if self.mode == "K8sJobMode" else 0

    @property
    def cleanup(self) -> Cleanup:
        """What KubeRay cleans up by itself."""
        return Cleanup.of(self.spec, self.expected.job_status, self.expected.deployment_status)


def state(**fields: str) -> Condition:
    """The RayJob's status has these values now."""
    return Condition(f"the status has {_words(fields)}", lambda view: view.now(**fields))


def ever(**fields: str) -> Condition:
    """The RayJob's status had these values at some time."""
    return Condition(f"the status has had {_words(fields)}", lambda view: view.seen(**fields))


def _words(fields: Mapping[str, str]) -> str:
    return " and ".join(f"{name} {value or 'empty'}" for name, value in fields.items())


def _over(view: View) -> bool:
    return view.now(jobDeploymentStatus="Complete") or view.now(jobDeploymentStatus="Failed")


ended = Condition("the RayJob is Complete or Failed", _over)
cluster_gone = Condition(
    "the RayJob is over and no RayCluster is left", lambda view: _over(view) and not view.alive("RayCluster")
)
workers_gone = Condition(
    "the RayJob is over and its RayCluster has no worker pod left",
    lambda view: _over(view) and bool(view.alive("RayCluster")) and not view.pods("worker"),
)
rayjob_gone = Condition("the RayJob is gone", lambda view: view.gone)
head_runs = Condition("the head pod runs", lambda view: any(pod["phase"] == "Running" for pod in view.pods("head")))
