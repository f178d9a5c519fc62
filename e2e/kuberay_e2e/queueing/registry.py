"""All scenarios, by their names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Position
from kuberay_e2e.queueing import admission, outages, quota
from kuberay_e2e.queueing.jobs import INITIALIZING, SUSPENDED, SUSPENDING
from kuberay_e2e.queueing.queues import Quota
from kuberay_e2e.queueing.scenario import Scenario
from kuberay_e2e.queueing.workloads import SUBMITTER_MILLICPUS, job_millicpus

_ONE_JOB = Quota(job_millicpus() + SUBMITTER_MILLICPUS)
"""Room for one job, not for two."""

_PREEMPTING = Quota(job_millicpus(admission.PREEMPTION_WORKERS) + SUBMITTER_MILLICPUS, preempts=True)

_STATUS = "update:RayJob/status:jobDeploymentStatus="
_LOW_STATUS = "update:RayJob/status~low:jobDeploymentStatus="
"""The same of the job that is preempted; the one that preempts is suspended too before it is admitted."""

_CLUSTER, _SUBMITTER = "delete:RayCluster", "delete:Job"

_SAME_END = (
    "The operator goes on where it was: every step of KubeRay's rayjob_controller.go starts from the stored status, "
    "so the job comes to the same end as without the crash, with one RayCluster and one submitter per run."
)

_PLAIN = (
    Scenario(
        "preemption",
        "Of two LocalQueues that share quota for one job, the urgent one evicts the job of the other.",
        "Kueue preempts by priority within a ClusterQueue (withinClusterQueue: LowerPriority) and waits until the "
        "evicted RayJob is Suspended (IsActive in Kueue's rayjob_controller.go); KubeRay deletes the RayCluster first.",
        _PREEMPTING,
        admission.preemption,
    ),
    Scenario(
        "suspension",
        "A running job is stopped by spec.active of its Workload, and started again.",
        "An inactive Workload is evicted and its job suspended; once active, it is admitted again and runs anew.",
        _ONE_JOB,
        admission.suspension,
    ),
    Scenario(
        "admission",
        "A job waits in a LocalQueue on hold, and is admitted when the hold ends.",
        "A LocalQueue with stopPolicy Hold admits nothing; afterwards its Workloads are admitted.",
        _ONE_JOB,
        admission.admission,
    ),
    Scenario(
        "gang",
        "A job of head and two workers waits, although its head and one worker would fit.",
        "Admission is all or nothing: a Workload gets the quota of all its pod sets or none, and until then the "
        "RayJob is suspended and has neither RayCluster nor pods.",
        Quota(job_millicpus(admission.GANG_WORKERS) + SUBMITTER_MILLICPUS),
        admission.gang,
    ),
    Scenario(
        "quota-after-success",
        "A job succeeds, and the next one is admitted.",
        "A RayJob that is Complete is finished for Kueue (Finished in rayjob_controller.go), and its quota is free.",
        _ONE_JOB,
        quota.after_success,
    ),
    Scenario(
        "quota-after-failure",
        "A job fails, and the next one is admitted.",
        "A RayJob that is Failed is finished for Kueue (Finished in rayjob_controller.go), and its quota is free.",
        _ONE_JOB,
        quota.after_failure,
    ),
    Scenario(
        "quota-after-deletion",
        "A running job is deleted, and the next one is admitted.",
        "The Workload of a deleted RayJob goes with it (finalizeWorkloads in Kueue's reconciler.go), and its quota "
        "is free.",
        _ONE_JOB,
        quota.after_deletion,
    ),
    Scenario(
        "quota-after-validation-failed",
        "KubeRay refuses a job that Kueue took, and the next one is admitted.",
        "A RayJob that is ValidationFailed is on hold (IsOnHold in Kueue's rayjob_controller.go, since 0.19.1): it "
        "gives its quota back and is not queued again.",
        _ONE_JOB,
        quota.after_validation_failed,
    ),
    Scenario(
        "quota-after-invalid-edit",
        "A running job is edited so that KubeRay refuses it, and the next one is admitted.",
        "A RayJob that is ValidationFailed gives its quota back, and no other job gets it while pods use it.",
        _ONE_JOB,
        quota.after_invalid_edit,
    ),
    Scenario(
        "webhooks-away",
        "Jobs are created, changed, deleted and due for admission while Kueue's webhooks cannot be reached.",
        "The webhooks fail closed (failurePolicy Fail in Kueue's chart): what they look at is refused and nothing "
        "happens by halves; once they can be reached everything goes on.",
        _ONE_JOB,
        outages.webhooks_away,
        exclusive=True,
    ),
    Scenario(
        "kueue-away",
        "A running job ends while Kueue is away, and the next one waits for its return.",
        "An admitted job needs Kueue no more: it ends as if Kueue were there. Nothing is admitted until Kueue is back.",
        _ONE_JOB,
        outages.kueue_away,
        exclusive=True,
    ),
)


POSITIONS = (Position.BEFORE, Position.COMMITTED, Position.LOST, Position.AFTER)
"""Where a write is disturbed: the operator dies around it, or loses the response."""


def _crashes() -> list[Scenario]:
    """The operator killed in suspension, admission and preemption: one write of each by default, the others named."""
    plain = {scenario.name: scenario for scenario in _PLAIN}
    writes = {
        "suspension": (_CLUSTER, _SUBMITTER, _STATUS + SUSPENDING, _STATUS + SUSPENDED),
        "admission": ("create:RayCluster", _STATUS, _STATUS + INITIALIZING),
        "preemption": (
            _CLUSTER,
            _SUBMITTER,
            _LOW_STATUS + SUSPENDING,
            _LOW_STATUS + SUSPENDED,
        ),
    }
    found = []
    for name, faults in writes.items():
        main, *_ = faults
        found.append(_crash(plain[name], f"crash-in-{name}", main))
        for write in faults:
            for position in POSITIONS:
                kill_at = f"{write}@{position}"
                found.append(_crash(plain[name], f"crash-in-{name}/{kill_at}", kill_at, further=True))
    return found


def _crash(scenario: Scenario, name: str, kill_at: str, *, further: bool = False) -> Scenario:
    doc = f"{scenario.doc} The operator is disturbed at {kill_at}."
    return replace(scenario, name=name, doc=doc, expected=_SAME_END, exclusive=True, kill_at=kill_at, further=further)


SCENARIOS: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (*_PLAIN, *_crashes())}
"""Every scenario by its name, in the order in which they run."""


PLAYED_WITH_A_CRASH = ("suspension", "admission")
"""What `crash-in-suspension` and `crash-in-admission` play, too; a real pod takes its time."""


def select(patterns: Iterable[str] = (), *, real: bool = False) -> list[Scenario]:
    """The scenarios that some patterns name; default: those that are not `further`.

    Args:
        patterns: Names, or patterns with `*` and `?`.
        real: Whether pods are real: what another scenario plays too is then left out by default.

    Raises:
        InputError: A pattern names none.
    """
    wanted = list(patterns)
    if not wanted:
        left_out = PLAYED_WITH_A_CRASH if real else ()
        return [scenario for name, scenario in SCENARIOS.items() if not scenario.further and name not in left_out]
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in SCENARIOS):
            raise InputError(
                f"Expected the name of a Kueue scenario, or a pattern of names, got {pattern!r}. There are "
                f"{', '.join(name for name, scenario in SCENARIOS.items() if not scenario.further)}; "
                "`kuberay-e2e kueue --list` shows all."
            )
    return [s for name, s in SCENARIOS.items() if any(fnmatchcase(name, pattern) for pattern in wanted)]
