"""The Events of the operator are true: what they say was created or deleted was, and a creation is told of once."""

from typing import Any

import pytest

from kuberay_e2e.crash.kubernetes_events import events_tell_what_happened
from kuberay_e2e.observer import occurrence
from tests.crash.recorded import good
from tests.crash.test_acknowledgement import Writes


def tell(writes: Writes, uid: str, reason: str, message: str, count: int = 1) -> None:
    item: dict[str, Any] = {
        "metadata": {"uid": uid, "name": uid},
        "reason": reason,
        "message": message,
        "count": count,
        "involvedObject": {"kind": "RayJob", "name": "job", "uid": "job"},
    }
    writes.trace.add("event", **occurrence(item))


def cluster(writes: Writes, event: str) -> None:
    writes.see(event, object_kind="RayCluster", name="job-x2bcd", uid="c", owners=["job"])


def test_an_event_of_a_creation() -> None:
    writes = Writes()
    cluster(writes, "ADDED")
    tell(writes, "1", "CreatedRayCluster", "Created RayCluster run/job-x2bcd")
    finding = events_tell_what_happened(writes.evidence)
    assert (finding.held, finding.seen) == (True, "1 Events do")


@pytest.mark.parametrize(("uid", "count"), [("1", 2), ("2", 1)])
def test_a_creation_that_is_told_of_twice(uid: str, count: int) -> None:
    writes = Writes()
    cluster(writes, "ADDED")
    tell(writes, "1", "CreatedRayCluster", "Created RayCluster run/job-x2bcd")
    tell(writes, uid, "CreatedRayCluster", "Created RayCluster run/job-x2bcd", count)
    finding = events_tell_what_happened(writes.evidence)
    assert finding.seen == "RayCluster job-x2bcd is said to be created 2 times and was created 1 times"
    assert not finding.held


def test_a_creation_that_never_was() -> None:
    writes = Writes()
    tell(writes, "1", "CreatedWorkerPod", "Created worker Pod run/job-x2bcd-worker-q9wzx")
    assert not events_tell_what_happened(writes.evidence).held


@pytest.mark.parametrize("gone", [True, False])
def test_a_deletion_may_be_told_of_twice_but_has_to_come(gone: bool) -> None:
    writes = Writes()
    cluster(writes, "ADDED")
    if gone:
        cluster(writes, "DELETED")
    for uid in "12":
        tell(writes, uid, "DeletedRayCluster", "Deleted cluster run/job-x2bcd")
    assert events_tell_what_happened(writes.evidence).held is gone


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("FailedToCreateRayCluster", "Failed to create RayCluster run/job-x2bcd"),
        ("DeletedWorkerPod", "Deleted all pods for suspended worker group workers in RayCluster run/job-x2bcd"),
        ("Scheduled", "Successfully assigned run/job-x2bcd-head-q9wzx to simulated-node"),
    ],
)
def test_other_events_name_nothing_that_was_created_or_deleted(reason: str, message: str) -> None:
    writes = Writes()
    tell(writes, "1", reason, message)
    finding = events_tell_what_happened(writes.evidence)
    assert (finding.held, finding.seen) == (True, "0 Events do")


def test_an_event_is_no_object_that_is_left() -> None:
    run = good()
    run.trace.add("event", **occurrence({"metadata": {"uid": "1", "name": "1"}}))
    assert run.broken() == []
