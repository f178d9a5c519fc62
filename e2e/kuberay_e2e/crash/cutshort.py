"""The oracles of a run whose RayJob is deleted while no operator is there, so that it does not come to its end."""

from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.ray.door import OPERATOR
from kuberay_e2e.ray.ledger import End, Start, Stop
from kuberay_e2e.verdicts import Finding

_GOING_ON = ("PENDING", "RUNNING")


def no_more_than_without_a_fault(evidence: Evidence) -> Finding:
    """No more RayClusters, submitter Jobs and starts of the entrypoint than if it had come to its end."""
    scenario = evidence.scenario
    counts = {
        "RayClusters": (len(evidence.recording.uids("RayCluster")), scenario.clusters),
        "submitter Jobs": (len(evidence.recording.uids("Job")), scenario.submitters),
        "starts": (
            sum(isinstance(entry.event, Start) for entry in evidence.recorded.ledger),
            scenario.expected.starts,
        ),
    }
    held = all(seen <= most for seen, most in counts.values())
    seen, most = (", ".join(f"{pair[index]} {name}" for name, pair in counts.items()) for index in (0, 1))
    return Finding("no more than without a fault", held, seen, f"at most {most}")


def stopped_if_it_runs(evidence: Evidence) -> Finding:
    """A job that runs, as its RayJob's status says too, is told to stop before the finalizer goes."""
    name = "a running job is stopped before the finalizer goes"
    asked = next((event for event in evidence.recording.rayjob if event.data["deletion"]), None)
    if asked is None:
        return Finding(name, False, "the RayJob was never seen to be deleted")
    status = asked.data.get("status") or {}
    entries = [entry for entry in evidence.recorded.ledger if entry.submission_id == status.get("jobId")]
    started = any(isinstance(entry.event, Start) and entry.time <= asked.time for entry in entries)
    ended = any(isinstance(entry.event, End) and entry.time <= asked.time for entry in entries)
    if status.get("jobStatus") not in _GOING_ON or not started or ended:
        return Finding(name, True, "it does not run then, or no status says so")
    stops = [entry for entry in entries if isinstance(entry.event, Stop) and entry.event.caller == OPERATOR]
    alone = any(isinstance(entry.event, End) for entry in entries) and not stops
    return Finding(
        name, bool(stops) or alone, "it ended before the operator was back" if alone else f"{len(stops)} stops", "one"
    )
