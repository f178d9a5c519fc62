"""Scenarios of admission: preemption, eviction, gangs; each can be played with the operator killed on the way."""

import time
from collections.abc import Mapping

from kuberay_e2e.lifecycle import invariants
from kuberay_e2e.lifecycle.waiting import NotYetError
from kuberay_e2e.queueing import evidence, requests
from kuberay_e2e.queueing.crash import crash
from kuberay_e2e.queueing.jobs import RUNNING, QueuedJob
from kuberay_e2e.queueing.queues import BATCH, HIGH, LOW, URGENT
from kuberay_e2e.queueing.scenario import Desk
from kuberay_e2e.queueing.workloads import BRIEF, LONG, POD_MILLICPUS, SUBMITTER_MILLICPUS

PODS_GONE = "quota is given on when the pods that used it are gone"

PREEMPTION_WORKERS, GANG_WORKERS = 1, 2
"""Workers of the jobs of which one preempts the other, and of the job that waits whole."""

_TOLERANCE_SECONDS = 1.0
"""Pods that overlap for less are within the precision of watching."""

_LOOK_SECONDS = 15.0
"""How long pods that should have gone are looked at."""

_WAIT_SECONDS = 3.0
"""How long nothing may happen to a job that waits."""


def preemption(desk: Desk) -> None:
    """A job of high priority evicts the running one of low priority, which runs again afterwards."""
    low = desk.job("low", queue=BATCH, priority=LOW, entrypoint=LONG, workers=PREEMPTION_WORKERS).create()
    desk.keep("the job of low priority runs", lambda: low.reached(RUNNING))
    with crash(desk):
        high = desk.job("high", queue=URGENT, priority=HIGH, workers=PREEMPTION_WORKERS).create()
    desk.keep("the job of low priority is suspended, its RayCluster gone", low.suspended)
    desk.keep("the Workload of low priority says that it was preempted", lambda: _preempted(low))
    desk.keep("the job of high priority is admitted", high.admitted)
    desk.keep("the job of high priority succeeds", high.succeeded)
    desk.keep("the job of low priority runs again", lambda: low.reached(RUNNING))
    desk.keep("the job of low priority succeeds", low.succeeded)
    _end(desk, high, runs=1)
    _end(desk, low, runs=2)
    pods_gone(desk, low, high)


def suspension(desk: Desk) -> None:
    """A running job is stopped by its Workload's `spec.active`, and started again."""
    job = desk.job("stopped", queue=BATCH, entrypoint=LONG).create()
    desk.keep("the job runs", lambda: job.reached(RUNNING))
    with crash(desk):
        job.activate(False)
    desk.keep("the job is suspended, its RayCluster gone", job.suspended)
    job.activate(True)
    desk.keep("the job succeeds", job.succeeded)
    _end(desk, job, runs=2)


def admission(desk: Desk) -> None:
    """A job waits in a LocalQueue that is on hold, and starts when the queue does."""
    requests.set_stop_policy(desk.client, desk.namespace, BATCH, "Hold")
    job = desk.job("waiting", queue=BATCH, entrypoint=BRIEF).create()
    desk.keep("the job waits suspended", job.suspended)
    with crash(desk):
        requests.set_stop_policy(desk.client, desk.namespace, BATCH, "None")
    desk.keep("the job is admitted", job.admitted)
    desk.keep("the job succeeds", job.succeeded)
    _end(desk, job, runs=1)


def gang(desk: Desk) -> None:
    """A job of which a part would fit waits whole."""
    desk.take_quota("other", queue=BATCH, millicpus=POD_MILLICPUS + SUBMITTER_MILLICPUS)
    job = desk.job("gang", queue=BATCH, workers=GANG_WORKERS).create()
    desk.keep("the job waits suspended", job.suspended)
    desk.stay("neither RayCluster nor pod is there while it waits", lambda: _nothing(job), seconds=_WAIT_SECONDS)
    requests.delete(desk.client, "Job", desk.namespace, "other")
    desk.keep("the job is admitted", job.admitted)
    desk.keep("all its Ray pods are there", lambda: _ray_pods(job, 1 + GANG_WORKERS))
    desk.keep("the job succeeds", job.succeeded)
    _end(desk, job, runs=1)


def pods_gone(desk: Desk, before: QueuedJob, after: QueuedJob) -> None:
    """Find whether the pods of the job that gave its quota back were gone before the next job's came."""
    deadline = time.monotonic() + _LOOK_SECONDS
    while True:
        found = evidence.overlap(desk.session.trace.events(), before.uid, after.uid)
        if found is None or found.ended or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    if found is None or (found.ended and found.seconds < _TOLERANCE_SECONDS):
        desk.find(PODS_GONE, True, f"the pods of {before.name} were gone when those of {after.name} came")
        return
    until = "ended" if found.ended else "were still there"
    desk.find(
        PODS_GONE,
        False,
        f"{found.pods} of the pods of {before.name} {until} {found.seconds:.0f} s after the first pod of "
        f"{after.name} came",
    )


def _end(desk: Desk, job: QueuedJob, *, runs: int) -> None:
    """Find that a job came to the end that it has without a crash."""
    desk.keep(f"the RayCluster of {job.name} goes after the end", lambda: _cleared(job))
    recording = job.recording()
    seen = {
        "RayClusters": len(recording.uids("RayCluster")),
        "RayClusters at once": evidence.at_once(recording, "RayCluster"),
        "submitter Jobs": len(recording.uids("Job")),
        **_counters(job),
    }
    wanted = {
        "RayClusters": runs,
        "RayClusters at once": 1,
        "submitter Jobs": runs,
        "succeeded": 1,
        "failed": 0,
    }
    desk.find(f"{job.name} has one RayCluster and one submitter per run", seen == wanted, str(seen), str(wanted))
    transitions = invariants.legal_transitions(recording, desk.session.ledger, True)
    desk.find(f"every change of status of {job.name} is legal", transitions.held, transitions.seen)


def _cleared(job: QueuedJob) -> str:
    clusters = job.session.reader.list("RayCluster", job.namespace, owner=job.uid)
    if clusters:
        raise NotYetError(f"{clusters[0]['metadata']['name']} is there")
    return f"{job.name} has no RayCluster any more"


def _counters(job: QueuedJob) -> Mapping[str, int]:
    status = (job.read() or {}).get("status") or {}
    return {name: int(status.get(name) or 0) for name in ("succeeded", "failed")}


def _preempted(job: QueuedJob) -> str:
    condition = job.condition("Evicted") or job.condition("Preempted")
    if "Preempted" not in str(condition.get("reason")):
        raise NotYetError(str(dict(condition)) or "no such condition")
    return f"{condition['type']}, {condition['reason']}: {condition.get('message', '')}"


def _nothing(job: QueuedJob) -> str:
    recording = job.recording()
    found = [*recording.uids("RayCluster"), *recording.uids("Pod")]
    if found:
        raise NotYetError(f"{len(found)} RayClusters and pods were created")
    return f"{job.name} has neither RayCluster nor pod"


def _ray_pods(job: QueuedJob, count: int) -> str:
    names = [
        pod["metadata"]["name"]
        for cluster in job.session.reader.list("RayCluster", job.namespace, owner=job.uid)
        for pod in job.session.reader.list("Pod", job.namespace, owner=cluster["metadata"]["uid"])
    ]
    if len(names) != count:
        raise NotYetError(f"{len(names)} of {count} pods")
    return f"{count} pods"
