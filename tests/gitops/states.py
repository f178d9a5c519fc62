"""Every state that the health checks tell apart: how it is known, and the health that is expected."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Item = Mapping[str, Any]
SNAPSHOTS = Path(__file__).parent / "snapshots"
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T| )\d\d:\d\d:\d\d([.,]\d+)?")
_SUFFIX = re.compile(r"(?<=-head-)[a-z0-9]{5}\b|(?<=\"serve-)[a-z0-9]{5}\b")
_ADDRESS = re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b")
_UID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@dataclass(frozen=True)
class State:
    """A state that an object is in for a while.

    Attributes:
        file: Name of its snapshot.
        kind: Kind of the object.
        name: Name of the object in the recorded namespace; a prefix where the rest is random.
        holds: Whether an object is in it.
        argocd: Health in Argo CD.
        flux: Status in Flux.
    """

    file: str
    kind: str
    name: str
    holds: Callable[[Item], bool]
    argocd: str
    flux: str

    @property
    def path(self) -> Path:
        """The snapshot."""
        return SNAPSHOTS / f"{self.kind.lower()}-{self.file}.json"

    def read(self) -> Item:
        """The object as it was recorded."""
        found: Item = json.loads(self.path.read_text())
        return found


def snapshot(item: Item, namespace: str) -> dict[str, Any]:
    """What health is read from, with times, addresses and random names made the same for all recordings."""
    meta, spec = item["metadata"], item.get("spec") or {}
    kept = {name: meta[name] for name in ("name", "namespace", "generation", "deletionTimestamp") if name in meta}
    told: dict[str, Any] = {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "metadata": kept,
        "spec": {name: spec[name] for name in ("suspend", "active", "stopPolicy") if name in spec},
    }
    if "status" in item:
        told["status"] = item["status"]
    text = json.dumps(told).replace(namespace, "team")
    for random, fixed in _random_names(item).items():
        text = text.replace(random, fixed)
    text = _SUFFIX.sub("xxxxx", _TIME.sub(r"2026-01-01\g<1>00:00:00", text))
    text = _ADDRESS.sub("10.0.0.1", _UID.sub("00000000-0000-4000-8000-000000000000", text))
    found: dict[str, Any] = json.loads(text)
    return found


def _random_names(item: Item) -> dict[str, str]:
    """Names with random letters that an object has or tells of, longest first, and fixed ones for them."""
    name, status = item["metadata"]["name"], item.get("status") or {}
    told = {"jobId": f"{name}-job", "rayClusterName": f"{name}-cluster"}
    found = {str(status[field]): fixed for field, fixed in told.items() if status.get(field)}
    head = status.get("head") or {}
    found.update({str(head[field]): f"{name}-head" for field in ("podName",) if head.get(field)})
    if item["kind"] == "Workload":
        found[name] = name.rpartition("-")[0]
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _job(deployment: str, job: str | None = None, reason: str | None = None) -> Callable[[Item], bool]:
    def holds(item: Item) -> bool:
        status = item.get("status") or {}
        return (
            status.get("jobDeploymentStatus", "") == deployment
            and (job is None or status.get("jobStatus", "") == job)
            and (reason is None or status.get("reason", "") == reason)
            and "deletionTimestamp" not in item["metadata"]
        )

    return holds


def _condition(kind: str, status: str = "True", reason: str | None = None) -> Callable[[Item], bool]:
    def holds(item: Item) -> bool:
        return "deletionTimestamp" not in item["metadata"] and any(
            found["type"] == kind and found["status"] == status and reason in (None, found["reason"])
            for found in (item.get("status") or {}).get("conditions") or ()
        )

    return holds


def _bare(item: Item) -> bool:
    return not item.get("status") and not (item.get("spec") or {}).get("suspend")


def _deleted(item: Item) -> bool:
    return "deletionTimestamp" in item["metadata"]


def _waits_for_head(item: Item) -> bool:
    conditions = ((item.get("status") or {}).get("rayClusterStatus") or {}).get("conditions") or ()
    told = any(found["type"] == "HeadPodReady" and found["status"] == "False" for found in conditions)
    return told and _job("Initializing")(item)


def _no_pods(item: Item) -> bool:
    conditions = ((item.get("status") or {}).get("rayClusterStatus") or {}).get("conditions") or ()
    return any(found["type"] == "ReplicaFailure" for found in conditions) and _job("Initializing")(item)


def _again(item: Item) -> bool:
    return _job("")(item) and int((item.get("status") or {}).get("failed") or 0) > 0


def _inactive(item: Item) -> bool:
    return (item.get("spec") or {}).get("active") is False and _condition("Evicted")(item)


def _provisioning(item: Item) -> bool:
    return _condition("HeadPodReady", "False")(item) and not (
        _condition("ReplicaFailure")(item) or _condition("RayClusterSuspended")(item)
    )


def _lost_head(item: Item) -> bool:
    return _condition("RayClusterProvisioned")(item) and _condition("HeadPodReady", "False")(item)


def _ray_ready(item: Item) -> bool:
    return (item.get("status") or {}).get("state") == "ready" and _condition("HeadPodReady")(item)


PROGRESSING, SUSPENDED = ("Progressing", "InProgress"), ("Suspended", "Current")
HEALTHY, DEGRADED, BLOCKED = ("Healthy", "Current"), ("Degraded", "Failed"), ("Degraded", "InProgress")
UNSEEN = ("Progressing", "Unknown")
"""Flux cannot evaluate expressions about an object without a status, and waits until they tell something."""

STATES = (
    State("new", "RayJob", "succeeds", _bare, *UNSEEN),
    State("initializing", "RayJob", "succeeds", _job("Initializing"), *PROGRESSING),
    State("initializing-head-not-ready", "RayJob", "too-late", _waits_for_head, *PROGRESSING),
    State("initializing-pods-refused", "RayJob", "no-pods", _no_pods, *PROGRESSING),
    State("running-unreported", "RayJob", "succeeds", _job("Running", ""), *PROGRESSING),
    State("running-pending", "RayJob", "succeeds", _job("Running", "PENDING"), *PROGRESSING),
    State("running", "RayJob", "succeeds", _job("Running", "RUNNING"), *PROGRESSING),
    State("complete-succeeded", "RayJob", "succeeds", _job("Complete", "SUCCEEDED"), *HEALTHY),
    State("deleted", "RayJob", "succeeds", _deleted, *PROGRESSING),
    State("complete-stopped", "RayJob", "stopped", _job("Complete", "STOPPED"), *DEGRADED),
    State("failed-app", "RayJob", "fails", _job("Failed", "FAILED", "AppFailed"), *DEGRADED),
    State("retrying", "RayJob", "fails", _job("Retrying"), *PROGRESSING),
    State("new-again", "RayJob", "fails", _again, *PROGRESSING),
    State("failed-submission", "RayJob", "unsubmitted", _job("Failed", None, "SubmissionFailed"), *DEGRADED),
    State("failed-deadline", "RayJob", "too-long", _job("Failed", None, "DeadlineExceeded"), *DEGRADED),
    State(
        "failed-pre-running-deadline",
        "RayJob",
        "too-late",
        _job("Failed", None, "PreRunningDeadlineExceeded"),
        *DEGRADED,
    ),
    State("validation-failed", "RayJob", "invalid", _job("ValidationFailed"), *DEGRADED),
    State("waiting", "RayJob", "interactive", _job("Waiting"), *SUSPENDED),
    State("suspending", "RayJob", "by-hand", _job("Suspending"), *SUSPENDED),
    State("suspended", "RayJob", "by-hand", _job("Suspended"), *SUSPENDED),
    State("queued", "RayJob", "queued", _job("Suspended"), *SUSPENDED),
    State("admitted", "RayJob", "admitted", _job("Running", "RUNNING"), *PROGRESSING),
    State("new", "RayCluster", "plain", _bare, *UNSEEN),
    State("provisioning", "RayCluster", "plain", _provisioning, *PROGRESSING),
    State("ready", "RayCluster", "plain", _ray_ready, *HEALTHY),
    State("head-lost", "RayCluster", "plain", _lost_head, *PROGRESSING),
    State("pods-refused", "RayCluster", "refused", _condition("ReplicaFailure"), *BLOCKED),
    State("suspending", "RayCluster", "plain", _condition("RayClusterSuspending"), *SUSPENDED),
    State("suspended", "RayCluster", "plain", _condition("RayClusterSuspended"), *SUSPENDED),
    State("initializing", "RayService", "serve", _condition("Ready", "False", "Initializing"), *PROGRESSING),
    State("validation-failed", "RayService", "invalid", _condition("Ready", "False", "ValidationFailed"), *DEGRADED),
    State("active", "ClusterQueue", "open", _condition("Active", "True"), *HEALTHY),
    State("flavor-not-found", "ClusterQueue", "flavorless", _condition("Active", "False", "FlavorNotFound"), *BLOCKED),
    State("stopped", "ClusterQueue", "held", _condition("Active", "False", "Stopped"), *SUSPENDED),
    State("active", "LocalQueue", "open", _condition("Active", "True"), *HEALTHY),
    State("stopped", "LocalQueue", "held", _condition("Active", "False", "Stopped"), *SUSPENDED),
    State("queue-missing", "LocalQueue", "astray", _condition("Active", "False", "ClusterQueueDoesNotExist"), *BLOCKED),
    State("pending", "Workload", "rayjob-queued", _condition("QuotaReserved", "False", "Pending"), *SUSPENDED),
    State("misplaced", "Workload", "rayjob-misplaced", _condition("QuotaReserved", "False", "Inadmissible"), *BLOCKED),
    State("admitted", "Workload", "rayjob-admitted", _condition("Admitted"), *HEALTHY),
    State("deactivated", "Workload", "rayjob-put-off", _inactive, *SUSPENDED),
    State("finished", "Workload", "rayjob-queued", _condition("Finished", "True", "Succeeded"), *HEALTHY),
    State("finished-failed", "Workload", "rayjob-admitted", _condition("Finished", "True", "Failed"), *DEGRADED),
)
"""All of them can be recorded on an embedded cluster with operator and Kueue."""
