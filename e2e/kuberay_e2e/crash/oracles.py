"""The oracles: pure functions over a recorded run, each of one promise.

An operator restart is no failure and no attempt. `rayClusterName` and `jobId` are stored before anything is created
(`initRayJobStatusIfNeed` in KubeRay's rayjob_controller.go), so a restarted operator finds what it made.
"""

from collections import Counter
from collections.abc import Sequence

from kuberay_e2e.crash.acknowledgement import deletions_are_kept, writes_are_stored
from kuberay_e2e.crash.authored import settled
from kuberay_e2e.crash.cutshort import no_more_than_without_a_fault, stopped_if_it_runs
from kuberay_e2e.crash.difference import EndState, facts_of
from kuberay_e2e.crash.evidence import Evidence, Oracle
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.kubernetes_events import events_tell_what_happened
from kuberay_e2e.crash.lasting import nothing_while_suspended, stays, ttl_kept
from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.crash.survival import ends_only_when_killed, only_the_leader_writes
from kuberay_e2e.ray import Submission
from kuberay_e2e.ray.door import OPERATOR
from kuberay_e2e.ray.ledger import End, Outcome, Start, Stop
from kuberay_e2e.ray.observed import OBSERVED
from kuberay_e2e.verdicts import Finding

FINALIZER = "ray.io/rayjob-finalizer"

_SHOWN = 5
"""How many differences of an end state a finding tells."""


def reaches_its_end(evidence: Evidence) -> Finding:
    """The scenario comes to its goal, and after the deletion nothing is left."""
    return Finding("reaches its end", not evidence.recorded.unmet, evidence.recorded.unmet or "it did")


def ends_as_without_a_fault(evidence: Evidence) -> Finding:
    """jobStatus, jobDeploymentStatus and reason are in the end what they are without a fault."""
    expected, final = evidence.scenario.expected, evidence.final
    wanted = (expected.job_status, expected.deployment_status, expected.reason)
    seen = tuple(str(final.get(name) or "") for name in ("jobStatus", "jobDeploymentStatus", "reason"))
    return Finding("ends as without a fault", seen == wanted, _words(seen), _words(wanted))


def one_cluster_an_attempt(evidence: Evidence) -> Finding:
    """Each attempt makes one RayCluster, of the name that was stored for it; none where one is selected."""
    stored = evidence.recording.values("rayClusterName")
    made = [
        event.data["name"]
        for event in evidence.recording.owned
        if event.data["object_kind"] == "RayCluster" and event.data["event"] == "ADDED"
    ]
    attempts, wanted = evidence.scenario.expected.attempts, evidence.scenario.clusters
    held = set(made) <= set(stored) and len(stored) == attempts and len(set(made)) == len(made) == wanted
    return Finding(
        "one RayCluster an attempt",
        held,
        f"{len(stored)} names stored, {len(made)} RayClusters made" + ("" if held else f": {stored}, {made}"),
        f"{attempts} and {wanted}",
    )


def one_job_id_an_attempt(evidence: Evidence) -> Finding:
    """Each attempt has one jobId, and a RayCluster of its own."""
    pairs = {
        (str(status["rayClusterName"]), str(status["jobId"]))
        for status in evidence.statuses
        if status.get("rayClusterName") and status.get("jobId")
    }
    clusters, ids = ({pair[index] for pair in pairs} for index in (0, 1))
    wanted = evidence.scenario.expected.attempts
    held = len(pairs) == len(clusters) == len(ids) == wanted
    return Finding(
        "one jobId an attempt", held, f"{len(ids)} job ids, {len(clusters)} RayClusters", f"{wanted} of each"
    )


def one_submitter_an_attempt(evidence: Evidence) -> Finding:
    """Each attempt makes one submitter Job where a Job submits, and none where the operator does."""
    wanted = evidence.scenario.submitters
    made = len(evidence.recording.uids("Job"))
    return Finding("one submitter Job an attempt", made == wanted, f"{made}", f"{wanted}")


def one_submission_a_job_id(evidence: Evidence) -> Finding:
    """Ray accepts each job once, and nobody asks a second time."""
    counts: Counter[str] = Counter()
    double = []
    for job_id in evidence.recording.values("jobId"):
        outcomes = [
            entry.event.outcome
            for entry in evidence.recorded.ledger
            if isinstance(entry.event, Submission) and entry.submission_id == job_id
        ]
        counts.update(str(outcome) for outcome in outcomes)
        if outcomes.count(Outcome.ACCEPTED) > 1 or Outcome.DUPLICATE in outcomes:
            double.append(job_id)
    seen = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "none"
    return Finding("one submission a jobId", not double, seen, "each job id to be submitted once")


def submitted_by_its_mode(evidence: Evidence) -> Finding:
    """A job is submitted by whom the submission mode says: the operator, a submitter pod or the user.

    A real Ray does not tell who submitted a job that it has taken.
    """
    wanted = {"HTTPMode": OPERATOR, "InteractiveMode": "user"}.get(evidence.scenario.mode, "submitter")
    callers = {
        entry.event.caller.partition("/")[0]
        for entry in evidence.recorded.ledger
        if isinstance(entry.event, Submission)
    }
    seen = ", ".join(sorted(callers)) or "none"
    return Finding("submitted by whom its mode says", callers <= {wanted, OBSERVED}, seen, wanted)


def entrypoint_runs(evidence: Evidence) -> Finding:
    """The entrypoint runs as often as it does without a fault."""
    starts = sum(isinstance(entry.event, Start) for entry in evidence.recorded.ledger)
    wanted = evidence.scenario.expected.starts
    return Finding("the entrypoint runs as often as it should", starts == wanted, f"{starts}", f"{wanted}")


def status_tells_what_ray_says(evidence: Evidence) -> Finding:
    """A terminal jobStatus is the one that the job ended with in Ray."""
    ends = {
        entry.submission_id: entry.event.status for entry in evidence.recorded.ledger if isinstance(entry.event, End)
    }
    wrong = []
    for status in evidence.statuses:
        said, job_id = str(status.get("jobStatus") or ""), str(status.get("jobId") or "")
        if said in ("SUCCEEDED", "FAILED", "STOPPED") and said != ends.get(job_id, "nothing"):
            wrong.append(f"jobStatus {said} while Ray says {ends.get(job_id, 'nothing')}")
    return Finding("jobStatus tells what Ray says", not wrong, "; ".join(dict.fromkeys(wrong)) or "it does")


def legal_transitions(evidence: Evidence) -> Finding:
    """Status changes are those of KubeRay's state machine, jobStatus within its enum and never backwards."""
    wrong, seen = evidence.recording.transitions()
    return Finding("status changes are legal", not wrong, f"{'; '.join(wrong)} in {seen}" if wrong else seen)


def counters(evidence: Evidence) -> Finding:
    """`succeeded` and `failed` count attempts, not restarts of the operator."""
    expected = evidence.scenario.expected
    seen = (int(evidence.final.get("succeeded") or 0), int(evidence.final.get("failed") or 0))
    wanted = (expected.succeeded, expected.failed)
    said, asked = (f"succeeded {succeeded}, failed {failed}" for succeeded, failed in (seen, wanted))
    return Finding("counters count attempts", seen == wanted, said, asked)


def end_time_stays(evidence: Evidence) -> Finding:
    """`endTime` is written once and not changed."""
    times = evidence.recording.values("endTime")
    return Finding("endTime is written once", len(times) <= 1, ", ".join(times) or "never", "one value")


def stopped_before_release(evidence: Evidence) -> Finding:
    """A job that runs when its RayJob is deleted is told to stop before the finalizer goes."""
    if not evidence.scenario.expected.stopped:
        return Finding("a running job is stopped before the finalizer goes", True, "it does not run then")
    stops = [
        entry for entry in evidence.recorded.ledger if isinstance(entry.event, Stop) and entry.event.caller == OPERATOR
    ]
    released = _released(evidence)
    held = bool(stops) and released is not None and stops[0].time <= released
    return Finding(
        "a running job is stopped before the finalizer goes", held, f"{len(stops)} stops", "one, before the release"
    )


def _released(evidence: Evidence) -> float | None:
    """When the operator asked for the removal of the finalizer, or else when the RayJob was seen to be gone."""
    asked = [
        event.time
        for event in evidence.recorded.events
        if event.kind == "request" and str(event.data.get("write", "")).startswith(f"update:RayJob:-{FINALIZER}")
    ]
    gone = [event.time for event in evidence.recording.rayjob if event.data["event"] == "DELETED"]
    return min([*asked, *gone], default=None)


def no_write_after_death(evidence: Evidence) -> Finding:
    """Nothing that a killed incarnation had sent was forwarded after its death."""
    late, killed = evidence.recording.late_writes()
    return Finding("no write by a dead operator", not late, ", ".join(late) or f"{killed} killed")


def nothing_left(evidence: Evidence) -> Finding:
    """The RayJob was released by its finalizer, and everything it owned went with it."""
    left, count = evidence.recording.left()
    return Finding("nothing is left", not left, ", ".join(left) or f"{count} objects gone")


ORACLES: Sequence[Oracle] = (
    reaches_its_end,
    ends_as_without_a_fault,
    one_cluster_an_attempt,
    one_job_id_an_attempt,
    one_submitter_an_attempt,
    one_submission_a_job_id,
    submitted_by_its_mode,
    entrypoint_runs,
    status_tells_what_ray_says,
    legal_transitions,
    counters,
    end_time_stays,
    ttl_kept,
    stays,
    nothing_while_suspended,
    stopped_before_release,
    ends_only_when_killed,
    only_the_leader_writes,
    no_write_after_death,
    writes_are_stored,
    deletions_are_kept,
    events_tell_what_happened,
    nothing_left,
)
"""Every oracle, in the order of reports."""

CUT_SHORT: Sequence[Oracle] = (
    reaches_its_end,
    no_more_than_without_a_fault,
    one_submission_a_job_id,
    submitted_by_its_mode,
    status_tells_what_ray_says,
    legal_transitions,
    end_time_stays,
    nothing_while_suspended,
    stopped_if_it_runs,
    ends_only_when_killed,
    no_write_after_death,
    writes_are_stored,
    deletions_are_kept,
    nothing_left,
)
"""The oracles of a run whose RayJob is deleted while the operator is down."""


def judge(scenario: Scenario, recorded: Recorded, end: EndState | None = None) -> list[Finding]:
    """What each oracle finds in a run.

    Args:
        scenario: The scenario; one that is still to be learned expects what this run came to.
        recorded: The run.
        end: The end state without a fault; None where it is not known, and is not asked for.
    """
    evidence = Evidence.of(settled(scenario, recorded), recorded)
    findings = [oracle(evidence) for oracle in (CUT_SHORT if recorded.point.delete else ORACLES)]
    return findings if end is None else [*findings, ends_in_the_same_state(evidence, end)]


def ends_in_the_same_state(evidence: Evidence, end: EndState) -> Finding:
    """Before the RayJob is deleted the same is there as without a fault."""
    name, point = "end state is that without a fault", evidence.recorded.point
    if point.delete or point.upgrade:
        return Finding(name, True, "not compared: the run ends elsewhere or with another release")
    differences = end.difference(facts_of(evidence.recorded.events))
    more = f"; and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
    return Finding(
        name, not differences, "; ".join(differences[:_SHOWN]) + more or f"{len(end.facts)} facts are the same"
    )


def _words(values: Sequence[str]) -> str:
    return ", ".join(value or "none" for value in values)
