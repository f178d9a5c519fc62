"""What users are promised to see after each fault, by version of the operator, with the source of the promise.

Line numbers are those of KubeRay v1.6.2, `ray-operator/controllers/ray/`, where no other version is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kuberay_e2e.clusterfaults.workload import Mode
from kuberay_e2e.errors import InputError

SUCCEEDED = ("Complete SUCCEEDED",)
FAILED = (
    "Failed AppFailed",
    "Failed SubmissionFailed",
    "Failed JobDeploymentStatusTransitionGracePeriodExceeded",
)
"""The reasons that upstream's own test of a lost head accepts (`test/e2erayjob/rayjob_test.go`)."""


@dataclass(frozen=True)
class Expectation:
    """What users are promised.

    Attributes:
        scenario: Name of the scenario.
        mode: Submission mode.
        sentence: The promise, a sentence.
        ends: How the RayJob may end, as `ending` writes it; empty where it is deleted before its end.
        starts: How often the entrypoint may start, at least and at most.
        source: Where it is promised or decided.
        since: First version of the operator for which this holds.
    """

    scenario: str
    mode: Mode
    sentence: str
    ends: Sequence[str]
    starts: tuple[int, int]
    source: str
    since: str = "1.5.0"


def of(version: str, scenario: str, mode: Mode) -> Expectation:
    """What is promised of a scenario in a version.

    Args:
        version: Release of the operator, such as 1.6.2.
        scenario: Name of the scenario.
        mode: Submission mode.

    Raises:
        InputError: Nothing is known of this version.
    """
    found = [
        entry
        for entry in EXPECTATIONS
        if (entry.scenario, entry.mode) == (scenario, mode) and _key(entry.since) <= _key(version)
    ]
    if not found:
        raise InputError(
            f"Nothing is promised of {scenario} in {mode} by KubeRay {version}; versions from 1.5.0 are known."
        )
    return max(found, key=lambda entry: _key(entry.since))


def ending(deployment: str, job: str, reason: str) -> str:
    """How a RayJob ended, in one phrase, such as `Complete SUCCEEDED` or `Failed AppFailed`."""
    return f"{deployment} {reason if deployment == 'Failed' else job}"


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split("."))


_BACKOFF = (
    "RayJob API, spec.backoffLimit (default 0): the number of retries before the job is marked failed, each with a new "
    "RayCluster"
)

EXPECTATIONS: tuple[Expectation, ...] = (
    Expectation(
        "head-pod-killed",
        Mode.K8S_JOB,
        "With backoffLimit 0 the RayJob fails and its entrypoint is not run a second time.",
        FAILED,
        (1, 1),
        f"{_BACKOFF}; test/e2erayjob/rayjob_test.go, head Pod deleted while the job runs",
    ),
    Expectation(
        "head-pod-killed",
        Mode.HTTP,
        "With backoffLimit 0 the RayJob fails and its entrypoint is not run a second time.",
        FAILED,
        (1, 1),
        f"{_BACKOFF}; the submission modes are documented as interchangeable",
    ),
    Expectation(
        "head-pod-killed",
        Mode.SIDECAR,
        "The head is not created again (annotation ray.io/disable-provisioned-head-restart), and the RayJob fails.",
        FAILED,
        (1, 1),
        "raycluster_controller.go:1143 shouldSkipHeadPodRestart; rayjob_controller.go:1054, head Pod not found",
    ),
    Expectation(
        "head-pod-killed-submitter-once",
        Mode.K8S_JOB,
        "The submitter fails with the head, and as nobody submits again the RayJob fails after one run.",
        ("Failed SubmissionFailed",),
        (1, 1),
        "rayjob_controller.go:691, submitterConfig.backoffLimit becomes that of the submitter Job",
    ),
    Expectation(
        "worker-pod-killed",
        Mode.K8S_JOB,
        "The worker is created again, Ray runs the lost task again, and the RayJob succeeds.",
        SUCCEEDED,
        (1, 1),
        "raycluster_controller.go reconcilePods keeps the number of workers; Ray tasks have max_retries 3",
    ),
    Expectation(
        "submitter-pod-deleted",
        Mode.K8S_JOB,
        "A new submitter follows the job that runs, without a second submission, and the RayJob succeeds.",
        SUCCEEDED,
        (1, 1),
        "common/job.go:126, `ray job status` before `ray job submit`; test/e2erayjob/rayjob_recovery_test.go",
    ),
    Expectation(
        "submitter-oom-killed",
        Mode.K8S_JOB,
        "A submitter that is OOM-killed is a failed pod of its Job, which starts another; the RayJob succeeds.",
        SUCCEEDED,
        (1, 1),
        "rayjob_controller.go:691, the submitter Job has backoffLimit 2; common/job.go:126",
    ),
    Expectation(
        "submitter-never-fits",
        Mode.K8S_JOB,
        "A submitter that is OOM-killed each time submits nothing, and the RayJob fails with SubmissionFailed.",
        ("Failed SubmissionFailed",),
        (0, 0),
        "rayjob_controller.go:1103, a failed submitter Job without a failed job is SubmissionFailed",
    ),
    Expectation(
        "submitter-job-deleted",
        Mode.K8S_JOB,
        "The RayJob ends as its job ends, or says that its submitter is gone; it does not wait for its deadline.",
        (*SUCCEEDED, *FAILED),
        (1, 1),
        "RayJob API, status.jobStatus: the status of the job in Ray, which still runs",
    ),
    Expectation(
        "node-drained",
        Mode.K8S_JOB,
        "The head's loss fails the RayJob once, with backoffLimit 0; head and submitter are not left on the drained "
        "node.",
        FAILED,
        (1, 1),
        _BACKOFF,
    ),
    Expectation(
        "operator-scaled-to-zero",
        Mode.K8S_JOB,
        "A deleted RayJob keeps its finalizer while there is no operator, and goes with all it owns when there is one "
        "again.",
        (),
        (1, 1),
        "rayjob_controller.go:120-147, the finalizer is removed after the job has been stopped",
    ),
    Expectation(
        "leader-killed",
        Mode.K8S_JOB,
        "The standby takes over after the lease of 15 s, creates nothing a second time, and the RayJob succeeds.",
        SUCCEEDED,
        (1, 1),
        "main.go:209, the lease ray-operator-leader; rayjob_controller.go:856 initRayJobStatusIfNeed",
    ),
    Expectation(
        "dashboard-cut",
        Mode.K8S_JOB,
        "The job's own end counts: when the operator reaches the dashboard again, the RayJob has succeeded.",
        SUCCEEDED,
        (1, 1),
        "RayJob API, status.jobStatus: the status of the job in Ray, which is SUCCEEDED",
    ),
    Expectation(
        "dashboard-cut",
        Mode.HTTP,
        "The job's own end counts: when the operator reaches the dashboard again, the RayJob has succeeded.",
        SUCCEEDED,
        (1, 1),
        "rayjob_controller.go:305, GetJobInfo is asked again after an error",
    ),
    Expectation(
        "api-server-killed",
        Mode.K8S_JOB,
        "The API server comes back, the operator goes on, and the RayJob succeeds.",
        SUCCEEDED,
        (1, 1),
        "controller-runtime lists and watches again; all state is in the RayJob's status",
    ),
)
