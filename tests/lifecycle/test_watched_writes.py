"""A watch shows which writes the operator made, as far as nobody else makes them."""

from typing import Any

import pytest

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.observer import snapshot
from kuberay_e2e.session import watched_writes
from kuberay_e2e.session.watched_writes import WatchedWrites
from kuberay_e2e.trace import Trace


class Watch:
    """A watch as the observer writes it into a trace, turned into writes."""

    def __init__(self) -> None:
        self.writes: list[str] = []
        self._seen = WatchedWrites()
        self._trace = Trace()
        self._trace.listen(lambda event: self.writes.extend(map(str, self._seen.of(event))))

    def see(self, event: str, kind: str, name: str, *, owner: str = "", status: Any = None, **meta: Any) -> None:
        owners = [{"kind": owner.partition("/")[0], "uid": owner.partition("/")[2]}] if owner else []
        metadata = {"name": name, "namespace": "n", "uid": name, "ownerReferences": owners, **meta}
        self._trace.add("object", **snapshot(event, kind, {"metadata": metadata, "status": status or {}}))


@pytest.fixture
def watch() -> Watch:
    return Watch()


def started(watch: Watch) -> Watch:
    """A RayJob whose RayCluster, head pod and submitter Job are there."""
    watch.see("ADDED", "RayJob", "job")
    watch.see("MODIFIED", "RayJob", "job", finalizers=["ray.io/rayjob-finalizer"])
    initializing = {"jobDeploymentStatus": "Initializing", "jobId": "job-1"}
    watch.see("MODIFIED", "RayJob", "job", finalizers=["ray.io/rayjob-finalizer"], status=initializing)
    watch.see("ADDED", "RayCluster", "cluster", owner="RayJob/job")
    watch.see("ADDED", "Pod", "head", owner="RayCluster/cluster")
    watch.see("ADDED", "Job", "submitter", owner="RayJob/job")
    return watch


def test_a_rayjob_on_its_way(watch: Watch) -> None:
    started(watch)
    assert watch.writes == [
        "update:RayJob:+ray.io/rayjob-finalizer#1",
        "update:RayJob/status:jobDeploymentStatus=Initializing#1",
        "create:RayCluster#1",
        "create:Pod#1",
        "create:Job#1",
    ]


def test_what_others_make_is_not_the_operators(watch: Watch) -> None:
    started(watch).writes.clear()
    watch.see("ADDED", "Pod", "submitter-x", owner="Job/submitter")
    watch.see("MODIFIED", "Job", "submitter", owner="RayJob/job", status={"active": 1})
    watch.see("ADDED", "Service", "somebodys")
    watch.see("MODIFIED", "Pod", "head", owner="RayCluster/cluster", status={"phase": "Running"})
    assert watch.writes == []


def test_a_status_is_known_by_what_changed(watch: Watch) -> None:
    started(watch).writes.clear()
    finalizers = ["ray.io/rayjob-finalizer"]
    running = {"jobDeploymentStatus": "Running", "jobId": "job-1"}
    watch.see("MODIFIED", "RayJob", "job", finalizers=finalizers, status=running)
    watch.see("MODIFIED", "RayJob", "job", finalizers=finalizers, status={**running, "jobStatus": "RUNNING"})
    assert watch.writes == [
        "update:RayJob/status:jobDeploymentStatus=Running#1",
        "update:RayJob/status:jobStatus=RUNNING#1",
    ]


def test_the_second_of_two_pods_is_the_second(watch: Watch) -> None:
    started(watch).writes.clear()
    watch.see("ADDED", "Pod", "cluster-workers-bcdfg", owner="RayCluster/cluster")
    watch.see("ADDED", "Pod", "cluster-workers-hjklm", owner="RayCluster/cluster")
    assert watch.writes == ["create:Pod#1", "create:Pod#2"]


def test_a_deletion_is_the_operators_while_the_owner_stays(watch: Watch) -> None:
    started(watch).writes.clear()
    watch.see("MODIFIED", "RayCluster", "cluster", owner="RayJob/job", deletionTimestamp="2026-01-01T00:00:00Z")
    watch.see("DELETED", "RayCluster", "cluster", owner="RayJob/job", deletionTimestamp="2026-01-01T00:00:00Z")
    watch.see("DELETED", "Pod", "head", owner="RayCluster/cluster")
    assert watch.writes == ["delete:RayCluster#1"], "the pod went with its RayCluster"


def test_the_garbage_collectors_deletions_are_not(watch: Watch) -> None:
    started(watch).writes.clear()
    finalizers = ["ray.io/rayjob-finalizer"]
    status = {"jobDeploymentStatus": "Initializing", "jobId": "job-1"}
    deleted = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    watch.see("MODIFIED", "RayJob", "job", finalizers=finalizers, status=status, **deleted)
    watch.see("DELETED", "RayJob", "job", status=status, **deleted)
    watch.see("DELETED", "RayCluster", "cluster", owner="RayJob/job")
    watch.see("DELETED", "Job", "submitter", owner="RayJob/job")
    assert watch.writes == ["update:RayJob:-ray.io/rayjob-finalizer#1"]


@pytest.mark.parametrize("text", ["create:Job@after", "update:RayJob/status:jobDeploymentStatus=Running@after"])
def test_a_visible_write_can_be_killed_at(text: str) -> None:
    watched_writes.check(parse(text))


@pytest.mark.parametrize("position", ["before", "committed", "lost"])
def test_a_pod_has_one_position(position: str) -> None:
    with pytest.raises(InputError, match=r"can only be create:Job#1@after.*--operator local"):
        watched_writes.check(parse(f"create:Job@{position}"))


@pytest.mark.parametrize(
    "write", ["submit:RayJobs", "create:Secret", "patch:Pod", "update:Job/status", "create:RayJob"]
)
def test_an_invisible_write_is_refused_with_what_can_be_seen(write: str) -> None:
    with pytest.raises(InputError, match=rf"does not show {write}#1; it shows create:KIND of Job, Pod"):
        watched_writes.check(parse(f"{write}@after"))
