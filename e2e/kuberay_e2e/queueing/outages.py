"""Scenarios in which Kueue, or the way to its webhooks, is away for a while."""

from collections.abc import Callable

from kuberay_e2e.lifecycle.waiting import NotYetError
from kuberay_e2e.queueing import requests
from kuberay_e2e.queueing.jobs import RUNNING, SUSPENDED, QueuedJob, RefusedError
from kuberay_e2e.queueing.outage import failure_policies, stopped_kueue, unreachable_webhooks
from kuberay_e2e.queueing.queues import BATCH
from kuberay_e2e.queueing.scenario import Desk
from kuberay_e2e.queueing.workloads import LONG, QUEUE_LABEL, job_millicpus

_CHANGE = {"spec": {"entrypointNumCpus": 0.5}}
_WAIT_SECONDS = 3.0
"""How long nothing may happen to a job that waits."""

_END_SECONDS = 10.0
"""How long KubeRay may take to see that a Ray job and its submitter have ended; it looks every 3 s."""


def webhooks_away(desk: Desk) -> None:
    """Jobs are created, changed, deleted and due for admission while nobody reaches Kueue's webhooks."""
    policies = failure_policies(desk.client, "rayjobs")
    desk.find("Kueue's webhooks of RayJobs fail closed", set(policies.values()) == {"Fail"}, str(policies))
    desk.take_quota("other", queue=BATCH, millicpus=job_millicpus())
    waiting, changed, deleted = (desk.job(name, queue=BATCH).create() for name in ("waiting", "changed", "deleted"))
    for job in (waiting, changed, deleted):
        desk.keep(f"the job {job.name} waits suspended", job.suspended)
    created, free = desk.job("created", queue=BATCH), _without_queue(desk)
    with unreachable_webhooks(desk.client, desk.job("probe", queue=BATCH).manifest):
        _refused(desk, "a job cannot be created meanwhile", lambda: created.create(patience=0))
        _refused(desk, "a job of no queue cannot be created either", lambda: free.create(patience=0))
        _refused(desk, "a job cannot be changed meanwhile", lambda: changed.change(_CHANGE, patience=0))
        deleted.delete()
        requests.delete(desk.client, "Job", desk.namespace, "other")
        desk.stay(
            "no job is admitted meanwhile, although quota is free",
            lambda: _waits(waiting, changed),
            seconds=_WAIT_SECONDS,
        )
        held = deleted.read()
        desk.find("a deleted job stays until its finalizer can be removed", held is not None, _presence(held))
    desk.keep("the job that waited is admitted afterwards", waiting.admitted)
    desk.keep("the deleted job goes afterwards", deleted.gone)
    changed.change(_CHANGE)
    created.create()
    desk.keep("a job that is created afterwards waits suspended", lambda: created.reached(SUSPENDED))
    desk.keep("the job that waited succeeds", waiting.succeeded)
    desk.keep("the next job is admitted with its change", lambda: _admitted_with_change(changed))


def kueue_away(desk: Desk) -> None:
    """A job ends while Kueue is away; the next one waits for its return."""
    first = desk.job("first", queue=BATCH, entrypoint=LONG).create()
    desk.keep("the first job runs", lambda: first.reached(RUNNING))
    following = desk.job("next", queue=BATCH).create()
    desk.keep("the next job waits suspended", following.suspended)
    with stopped_kueue(desk.client, desk.job("probe", queue=BATCH).manifest):
        desk.keep("Ray ends the first job meanwhile", first.over)
        desk.expect("the first job is Complete meanwhile", first.succeeded, seconds=_END_SECONDS)
        desk.stay("the next job waits meanwhile", following.suspended, seconds=_WAIT_SECONDS)
    desk.keep("the first job is Complete afterwards", first.succeeded)
    desk.keep("the next job is admitted afterwards", following.admitted)
    desk.keep("the next job succeeds", following.succeeded)


def _without_queue(desk: Desk) -> QueuedJob:
    job = desk.job("free", queue=BATCH)
    del job.manifest["metadata"]["labels"][QUEUE_LABEL]
    return job


def _refused(desk: Desk, promise: str, action: Callable[[], object]) -> None:
    try:
        action()
    except RefusedError as error:
        desk.find(promise, requests.UNREACHABLE in str(error), str(error))
    else:
        desk.find(promise, False, "the API server took it", f"a refusal that says {requests.UNREACHABLE!r}")


def _waits(*jobs: QueuedJob) -> str:
    return "; ".join(job.suspended() for job in jobs)


def _presence(found: object) -> str:
    return "it is there" if found is not None else "it is gone"


def _admitted_with_change(job: QueuedJob) -> str:
    seen = job.admitted()
    spec = (job.read() or {"spec": {}})["spec"]
    for name, value in _CHANGE["spec"].items():
        if spec.get(name) != value:
            raise NotYetError(f"{name} is {spec.get(name)}")
    return seen
