"""The invariants of one RayJob's run: pure functions over what was recorded.

An operator restart is no failure and no attempt. `rayClusterName` and `jobId` are stored before anything is created
(initRayJobStatusIfNeed in KubeRay's rayjob_controller.go), so a restarted operator finds what it made.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.lifecycle.result import Invariant
from kuberay_e2e.ray import Ledger

Check = Callable[[Recording, Ledger, bool], Invariant]

TTL_BUFFER = 2.0
"""Seconds that KubeRay adds to a TTL before it looks again (rayjob_controller.go)."""

_SCHEDULING = 5.0
"""Seconds that a delete may take on a loaded machine."""


def same_ray_cluster_name(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """`status.rayClusterName` never changes once it is stored."""
    return _one("one rayClusterName", recording.values("rayClusterName"))


def same_job_id(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """`status.jobId` never changes once it is stored."""
    return _one("one jobId", recording.values("jobId"))


def one_ray_cluster(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """One RayCluster was ever created."""
    return _one("one RayCluster", recording.uids("RayCluster"))


def one_submitter_job(recording: Recording, _: Ledger, has_submitter: bool) -> Invariant:
    """One submitter Job was ever created, none where the operator submits itself."""
    uids = recording.uids("Job")
    if has_submitter:
        return _one("one submitter Job", uids)
    return Invariant("no submitter Job", not uids, f"expected none, saw {uids}" if uids else "none")


def one_submission(recording: Recording, ledger: Ledger, _: bool) -> Invariant:
    """Ray accepted the job once and ran it once, and nobody tried a second time."""
    attempts = starts = duplicates = 0
    for job_id in recording.values("jobId"):
        attempts += len(ledger.accepted(job_id))
        starts += len(ledger.starts(job_id))
        duplicates += len(ledger.submissions(job_id)) - len(ledger.accepted(job_id))
    seen = f"{attempts} accepted, {duplicates} refused, {starts} started"
    held = (attempts, duplicates, starts) == (1, 0, 1)
    return Invariant("one submission", held, seen if held else f"expected 1 accepted, 0 refused, 1 started; saw {seen}")


def counters(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """The restart counts as no attempt: one success, no failure."""
    last: Mapping[str, Any] = recording.statuses()[-1] if recording.statuses() else {}
    seen = (int(last.get("succeeded") or 0), int(last.get("failed") or 0))
    text = f"succeeded {seen[0]}, failed {seen[1]}"
    return Invariant(
        "counters", seen == (1, 0), text if seen == (1, 0) else f"expected succeeded 1, failed 0; saw {text}"
    )


def legal_transitions(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """Every change of status is one that KubeRay's state machine has, and jobStatus never goes backwards."""
    wrong, seen = recording.transitions()
    return Invariant("legal transitions", not wrong, f"{'; '.join(wrong)} in {seen}" if wrong else seen)


def end_time_stays(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """`status.endTime` is written once."""
    return _one("endTime written once", recording.values("endTime"))


def nothing_left(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """The RayJob was released by its finalizer, and everything it owned went with it."""
    left, count = recording.left()
    return Invariant("nothing left", not left, f"still there: {', '.join(left)}" if left else f"{count} objects gone")


def no_write_after_death(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """Nothing that a killed incarnation had sent was forwarded after its death."""
    late, killed = recording.late_writes()
    return Invariant("no write by a dead operator", not late, ", ".join(late) or f"{killed} killed")


def no_unasked_restart(recording: Recording, _: Ledger, __: bool) -> Invariant:
    """An operator that runs in a pod ended only when it was killed: no panic, no lost lease, no failed probe."""
    events = [event.data for event in recording.events if event.kind == "operator"]
    unasked = [f"{data['pod']} (restart {data['restarts']})" for data in events if data["event"] == "ended by itself"]
    killed = sum(data["event"] == "killed" for data in events)
    seen = f"expected none, saw {', '.join(unasked)}" if unasked else f"{killed} killed, no other end"
    return Invariant("no end of the operator but by the kill", not unasked, seen)


INVARIANTS: tuple[Check, ...] = (
    same_ray_cluster_name,
    same_job_id,
    one_ray_cluster,
    one_submitter_job,
    one_submission,
    counters,
    legal_transitions,
    end_time_stays,
    nothing_left,
)
"""What must hold for every RayJob that succeeds, whatever happened to the operator."""


def ttl_kept(recording: Recording, ttl_seconds: int) -> Invariant:
    """The RayCluster goes at endTime + TTL: not before, and at most KubeRay's buffer later."""
    name = f"RayCluster gone {ttl_seconds} s after endTime"
    ends = recording.values("endTime")
    gone = recording.deleted("RayCluster")
    if not ends or not gone:
        return Invariant(
            name,
            False,
            f"expected an endTime and a deleted RayCluster; saw endTime {ends}, {len(gone)} deleted",
        )
    after = gone[0].time - parse_time(ends[-1])
    held = ttl_seconds - 1 <= after <= ttl_seconds + 1 + TTL_BUFFER + _SCHEDULING
    return Invariant(
        name,
        held,
        f"after {after:.1f} s"
        if held
        else f"expected {ttl_seconds} s to {ttl_seconds + TTL_BUFFER:.0f} s; saw {after:.1f} s",
    )


def kept_until_deleted(recording: Recording, has_submitter: bool) -> Invariant:
    """RayJob and submitter Job outlive the RayCluster and go only when the RayJob is deleted."""
    order = {
        "RayCluster": [event.sequence for event in recording.deleted("RayCluster")],
        "Job": [event.sequence for event in recording.deleted("Job")],
        "RayJob": [event.sequence for event in recording.rayjob if event.data["deletion"]],
    }
    if not order["RayCluster"] or not order["RayJob"] or (has_submitter and not order["Job"]):
        return Invariant(
            "RayJob and submitter Job stay until deleted",
            False,
            f"expected all to be deleted in the end; saw {order}",
        )
    first = order["RayCluster"][0]
    asked = order["RayJob"][0]
    held = first < asked and (not has_submitter or order["Job"][0] > asked)
    seen = (
        "they went when the RayJob was deleted"
        if held
        else f"expected RayCluster, then deletion of the RayJob, then Job; saw {order}"
    )
    return Invariant("RayJob and submitter Job stay until deleted", held, seen)


def parse_time(text: str) -> float:
    """Seconds since the epoch of a Kubernetes time."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC).timestamp()


def _one(name: str, values: list[str]) -> Invariant:
    return Invariant(name, len(values) == 1, values[0] if len(values) == 1 else f"expected one, saw {values or 'none'}")
