"""Scenarios of quota that comes back: however a job ends, the next one in the queue is admitted."""

from kuberay_e2e.lifecycle.waiting import NotYetError
from kuberay_e2e.queueing.admission import pods_gone
from kuberay_e2e.queueing.jobs import FAILED, RUNNING, VALIDATION_FAILED, QueuedJob
from kuberay_e2e.queueing.queues import BATCH
from kuberay_e2e.queueing.scenario import Desk
from kuberay_e2e.queueing.workloads import ENDLESS, FAILING

_INVALID = {"activeDeadlineSeconds": 0}
"""What Kueue takes and KubeRay refuses (`ValidateRayJobSpec` wants a positive number)."""


def after_success(desk: Desk) -> None:
    """The first job succeeds."""
    first = desk.job("first", queue=BATCH).create()
    following = _next(desk, first)
    desk.keep("the first job succeeds", first.succeeded)
    _admitted(desk, following)


def after_failure(desk: Desk) -> None:
    """The first job fails."""
    first = desk.job("first", queue=BATCH, entrypoint=FAILING).create()
    following = _next(desk, first)
    desk.keep("the first job fails", lambda: first.reached(FAILED))
    _admitted(desk, following)


def after_deletion(desk: Desk) -> None:
    """The first job is deleted while it runs."""
    first = desk.job("first", queue=BATCH, entrypoint=ENDLESS).create()
    following = _next(desk, first)
    desk.keep("the first job runs", lambda: first.reached(RUNNING))
    first.delete()
    desk.keep("the first job is gone", first.gone)
    _admitted(desk, following)


def after_validation_failed(desk: Desk) -> None:
    """KubeRay refuses the first job's spec, which Kueue had no objection to."""
    first = desk.job("first", queue=BATCH, spec=_INVALID).create()
    desk.keep("KubeRay refuses the first job", lambda: first.reached(VALIDATION_FAILED))
    following = desk.job("next", queue=BATCH, entrypoint=ENDLESS).create()
    _admitted(desk, following)
    desk.find("a refused job has no RayCluster", not first.recording().uids("RayCluster"), "none was created")


def after_invalid_edit(desk: Desk) -> None:
    """The first job is edited while it runs, and KubeRay refuses the edit."""
    first = desk.job("first", queue=BATCH, entrypoint=ENDLESS).create()
    following = _next(desk, first)
    desk.keep("the first job runs", lambda: first.reached(RUNNING))
    first.change({"spec": _INVALID})
    desk.keep("KubeRay refuses the first job", lambda: first.reached(VALIDATION_FAILED))
    _admitted(desk, following)
    desk.keep("the next job has pods", lambda: _has_pods(following))
    pods_gone(desk, first, following)


def _next(desk: Desk, first: QueuedJob) -> QueuedJob:
    desk.keep("the first job is admitted", first.admitted)
    following = desk.job("next", queue=BATCH, entrypoint=ENDLESS).create()
    desk.keep("the next job waits suspended", following.suspended)
    return following


def _admitted(desk: Desk, following: QueuedJob) -> None:
    desk.keep("the next job is admitted", following.admitted)
    desk.keep("the next job has a RayCluster", lambda: _has_cluster(following))


def _has_cluster(job: QueuedJob) -> str:
    if not job.recording().uids("RayCluster"):
        raise NotYetError(f"{job.name} has no RayCluster")
    return f"{job.name} has a RayCluster"


def _has_pods(job: QueuedJob) -> str:
    if not job.recording().uids("Pod"):
        raise NotYetError(f"{job.name} has no pod")
    return f"{job.name} has pods"
