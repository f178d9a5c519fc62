"""A recorded run, small enough to read, as the observer and the ledger write it."""

from typing import Any

from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.ray import Ledger, RayClusterKey, Start, Submission
from kuberay_e2e.ray.ledger import Outcome
from kuberay_e2e.trace import Event, Trace

END = "2026-01-01T00:00:30Z"
END_SECONDS = 1767225630.0
JOB_ID = "counter-f7qrj"


class Recorder:
    """Builds a trace step by step, on a clock of its own."""

    def __init__(self) -> None:
        self.now = END_SECONDS - 20
        self.trace = Trace(clock=lambda: self.now)
        self.ledger = Ledger(clock=lambda: self.now)

    def object(self, kind: str, uid: str, event: str = "MODIFIED", owner: str = "", **data: Any) -> None:
        known: dict[str, Any] = {
            "event": event,
            "object_kind": kind,
            "name": uid,
            "uid": uid,
            "owners": [owner] if owner else [],
            "finalizers": [],
            "deletion": "",
        }
        self.trace.add("object", **{**known, **data})

    def rayjob(self, **status: Any) -> None:
        self.object("RayJob", "job", status=status)

    def submit(self, job_id: str = JOB_ID, outcome: Outcome = Outcome.ACCEPTED) -> None:
        cluster = RayClusterKey("n", "counter-xrghf")
        self.ledger.record(cluster, job_id, Submission("python", "submitter/p", outcome, 200))
        if outcome is Outcome.ACCEPTED:
            self.ledger.record(cluster, job_id, Start("python"))

    def recording(self) -> Recording:
        return Recording.of(self.trace.events(), "job")

    def events(self) -> list[Event]:
        return self.trace.events()


def good_run(*, ttl: float = 10.0) -> Recorder:
    """A RayJob that succeeds, is shut down at its TTL and then deleted."""
    run = Recorder()
    ids = {"rayClusterName": "counter-xrghf", "jobId": JOB_ID}
    run.rayjob()
    run.rayjob(jobDeploymentStatus="Initializing", **ids)
    run.object("RayCluster", "cluster", "ADDED", "job")
    run.object("Pod", "head", "ADDED", "cluster")
    run.object("Job", "submitter", "ADDED", "job")
    run.submit()
    run.rayjob(jobDeploymentStatus="Running", **ids)
    run.rayjob(jobDeploymentStatus="Running", jobStatus="RUNNING", **ids)
    final = {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED", "endTime": END, "succeeded": 1, "failed": 0}
    run.rayjob(**final, **ids)
    run.now = END_SECONDS + ttl
    run.object("Pod", "head", "DELETED", "cluster")
    run.object("RayCluster", "cluster", "DELETED", "job")
    run.now += 5
    run.object("RayJob", "job", status={**final, **ids}, deletion="2026-01-01T00:00:45Z")
    run.object("Job", "submitter", "DELETED", "job")
    run.object("RayJob", "job", "DELETED", status={**final, **ids}, deletion="2026-01-01T00:00:45Z")
    return run
