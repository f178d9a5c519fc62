"""A recorded run of a scenario, small enough to read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kuberay_e2e.crash import oracles
from kuberay_e2e.crash import point as points
from kuberay_e2e.crash.difference import EndState
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.scenario import Expected, Scenario, ended, rayjob_gone
from kuberay_e2e.ray import Ledger, RayClusterKey, Start, Submission
from kuberay_e2e.ray.ledger import End, Outcome, Stop
from kuberay_e2e.trace import Trace

END = "2026-01-01T00:00:30Z"
END_SECONDS = 1767225630.0
TTL = Scenario("ttl", "Is shut down.", ended, {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 2})
HTTP = Scenario("http", "Is submitted by the operator.", ended, {"submissionMode": "HTTPMode"})
RULES = Scenario(
    "rules",
    "Deletes workers, RayCluster and itself.",
    rayjob_gone,
    {
        "submissionMode": "HTTPMode",
        "deletionStrategy": {
            "deletionRules": [
                {"policy": policy, "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": ttl}}
                for policy, ttl in (("DeleteWorkers", 1), ("DeleteCluster", 5), ("DeleteSelf", 9))
            ]
        },
    },
)
SELECTOR = Scenario(
    "selector",
    "Runs on a RayCluster of its user's.",
    ended,
    {"submissionMode": "HTTPMode", "clusterSelector": {"ray.io/cluster": "shared"}},
    expected=Expected(clusters=0),
)
INTERACTIVE = Scenario("interactive", "Is submitted by its user.", ended, {"submissionMode": "InteractiveMode"})
SUSPENDED = replace(HTTP, name="suspended", expected=Expected(attempts=2, starts=2))
RETRIED = replace(HTTP, name="retried", expected=Expected(attempts=2, starts=2, succeeded=1, failed=1))


class Run:
    """Builds a run step by step, on a clock of its own."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.now = END_SECONDS - 20
        self.trace = Trace(clock=lambda: self.now)
        self.ledger = Ledger(clock=lambda: self.now)
        self.unmet = ""
        self.trace.add("operator", event="started", incarnation=1)

    def object(self, kind: str, name: str, event: str = "MODIFIED", owner: str = "job", **data: Any) -> None:
        known: dict[str, Any] = {
            "event": event,
            "object_kind": kind,
            "name": name,
            "uid": name,
            "owners": [] if kind == "RayJob" else [owner],
            "deletion": "",
            "labels": {},
        }
        self.trace.add("object", **{**known, **data})

    def rayjob(self, event: str = "MODIFIED", deletion: str = "", **status: Any) -> None:
        self.object("RayJob", "job", event, status=status, deletion=deletion)

    def submit(self, job_id: str, outcome: Outcome = Outcome.ACCEPTED, by: str = "") -> None:
        key = RayClusterKey("n", "c")
        caller = {"HTTPMode": "operator", "InteractiveMode": "user"}.get(self.scenario.mode, "submitter/job-x")
        self.ledger.record(key, job_id, Submission("python", by or caller, outcome, 200))
        if outcome is Outcome.ACCEPTED:
            self.ledger.record(key, job_id, Start("python"))

    def end(self, job_id: str, status: str = "SUCCEEDED") -> None:
        self.ledger.record(RayClusterKey("n", "c"), job_id, End(status, 0))

    def stop(self, job_id: str) -> None:
        self.ledger.record(RayClusterKey("n", "c"), job_id, Stop("operator", True, 200))

    def attempt(self, number: int, *, ends: str = "SUCCEEDED") -> dict[str, str]:
        """One attempt up to the end of its job; returns its ids."""
        ids = {"rayClusterName": f"job-{number}", "jobId": f"id-{number}"}
        self.rayjob(jobDeploymentStatus="Initializing", **ids)
        self.object("RayCluster", ids["rayClusterName"], "ADDED")
        if self.scenario.submitters:
            self.object("Job", f"submitter-{number}", "ADDED")
        self.rayjob(jobDeploymentStatus="Running", **ids)
        self.submit(ids["jobId"])
        self.rayjob(jobDeploymentStatus="Running", jobStatus="RUNNING", **ids)
        self.end(ids["jobId"], ends)
        return ids

    def finish(self, ids: dict[str, str], **status: Any) -> dict[str, Any]:
        """The last status, at `END`."""
        self.now = END_SECONDS
        final: dict[str, Any] = {
            "jobDeploymentStatus": "Complete",
            "jobStatus": "SUCCEEDED",
            "endTime": END,
            "succeeded": 1,
            **ids,
        }
        final.update(status)
        self.rayjob(**final)
        return final

    def remove(self, final: dict[str, Any], *, clusters: Sequence[str] = ()) -> None:
        """The deletion of the RayJob and of what it owns."""
        self.rayjob(deletion="2026-01-01T00:00:45Z", **final)
        for name in clusters:
            self.object("RayCluster", name, "DELETED")
        last = {event.data["uid"]: event.data for event in self.trace.events("object")}
        for data in last.values():
            if data["object_kind"] == "Job":
                self.object("Job", data["name"], "DELETED")
        self.rayjob("DELETED", "2026-01-01T00:00:45Z", **final)

    def broken(self, end: EndState | None = None, point: str = "") -> list[str]:
        """The promises that the oracles find broken.

        Args:
            end: The end state without a fault; default: it is not compared.
            point: Where the run was disturbed; default: nowhere.
        """
        where = points.parse(point or self.scenario.name)
        events = tuple(self.trace.events())
        recorded = Recorded(where, "job", events, self.ledger.entries, self.unmet, True, 1.0)
        return [finding.promise for finding in oracles.judge(self.scenario, recorded, end) if not finding.held]


def good(scenario: Scenario = TTL) -> Run:
    """A run in which every promise is kept."""
    run = Run(scenario)
    run.rayjob()
    if scenario.expected.attempts == 2:
        first = run.attempt(1, ends="FAILED")
        run.rayjob(jobDeploymentStatus="Retrying", jobStatus="FAILED", failed=1, **first)
        run.object("RayCluster", "job-1", "DELETED")
        run.rayjob(failed=1)
    last = scenario.expected.attempts
    ids = run.attempt(last)
    final = run.finish(ids, failed=scenario.expected.failed)
    run.now += 2.5
    kept = [f"job-{last}"]
    if scenario.cleanup.cluster is not None:
        run.object("RayCluster", kept.pop(), "DELETED")
    run.now += 5
    run.remove(final, clusters=kept)
    return run
