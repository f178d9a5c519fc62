"""The evidence of a verdict tells what happened in the order of time."""

from typing import Any

from kuberay_e2e.clusterfaults import timeline
from kuberay_e2e.clusterfaults.executions import Execution
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.trace import Trace


def record(trace: Trace, kind: str, name: str, event: str = "MODIFIED", *, owner: str = "", **data: Any) -> None:
    known = {"namespace": "fault-1", "deletion": "", "owners": [owner] if owner else []}
    trace.add("object", object_kind=kind, name=name, uid=name, event=event, **{**known, **data})


def test_status_pods_faults_and_runs_in_one_list() -> None:
    now = iter(range(100, 200))
    trace = Trace(clock=lambda: float(next(now)))
    record(trace, "RayJob", "job", "ADDED")
    record(trace, "RayJob", "job", status={"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"})
    record(trace, "RayCluster", "job-x", owner="job", status={"state": "ready"})
    record(trace, "Pod", "head", owner="job-x", phase="Running")
    record(trace, "Pod", "head", owner="job-x", phase="Running")
    trace.add("fault", namespace="fault-1", action="head killed")
    trace.add("fault", namespace="fault-2", action="somebody else's")
    record(trace, "Pod", "head", "DELETED", owner="job-x", phase="Failed")
    failed = [{"type": "Failed", "status": "True"}, {"type": "FailureTarget", "status": "True"}]
    record(trace, "Job", "submitter", owner="job", status={"failed": 3, "conditions": failed})
    status = {"jobDeploymentStatus": "Failed", "jobStatus": "RUNNING", "reason": "SubmissionFailed"}
    record(trace, "RayJob", "job", status=status, deletion="2026-01-01T00:00:00Z")

    assert timeline.lines(Recording.of(trace.events(), "job"), [Execution("head", 102.5, 105.0, False)]) == (
        "   +0.0 s  RayJob job: New -",
        "   +1.0 s  RayJob job: Running RUNNING",
        "   +2.0 s  RayCluster job-x: ready",
        "   +2.5 s  entrypoint started in head (run 1)",
        "   +3.0 s  Pod head: Running",
        "   +5.0 s  ** head killed",
        "   +5.0 s  entrypoint was last heard in head (run 1)",
        "   +7.0 s  Pod head: gone",
        "   +8.0 s  Job submitter: 3 failed, Failed",
        "   +9.0 s  RayJob job: Failed RUNNING SubmissionFailed, being deleted",
    )


def test_nothing_recorded_is_nothing_to_tell() -> None:
    assert timeline.lines(Recording.of([], "job"), []) == ()
