"""What a recorded scenario says: pods that outlive their quota, objects at one time, lines for the report."""

from typing import Any

from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.queueing import evidence
from kuberay_e2e.queueing.evidence import Overlap
from kuberay_e2e.trace import Event, Trace


class Recorder:
    """Records two RayJobs, each with a RayCluster, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.trace = Trace(clock=lambda: self.now)
        for job in ("low", "high"):
            self.add("RayJob", job, status={})
            self.add("RayCluster", f"{job}-cluster", owner=job, status={})

    def add(self, kind: str, uid: str, event: str = "ADDED", owner: str = "", **data: Any) -> None:
        owners = [owner] if owner else []
        known = {"event": event, "object_kind": kind, "namespace": "team", "name": uid, "uid": uid, "owners": owners}
        self.trace.add("object", **known, **data)

    def pod(self, job: str, event: str = "ADDED", name: str = "head", phase: str = "Running") -> None:
        self.add("Pod", f"{job}-{name}", event, owner=f"{job}-cluster", phase=phase)

    def events(self) -> list[Event]:
        return self.trace.events()


def test_pods_that_were_gone_before_do_not_overlap() -> None:
    run = Recorder()
    run.pod("low")
    run.pod("low", "DELETED")
    run.now += 1
    run.pod("high")
    assert evidence.overlap(run.events(), "low", "high") is None


def test_pods_that_went_later_overlap_until_the_last_of_them_went() -> None:
    run = Recorder()
    for name in ("head", "worker"):
        run.pod("low", name=name)
    run.now += 1
    run.pod("high")
    run.now += 5
    run.pod("low", "DELETED")
    run.now += 25
    run.pod("low", "DELETED", name="worker")
    assert evidence.overlap(run.events(), "low", "high") == Overlap(2, 30.0, ended=True)


def test_pods_that_never_went_overlap_as_long_as_was_looked() -> None:
    run = Recorder()
    run.pod("low")
    run.now += 1
    run.pod("high")
    run.now += 7
    run.pod("high", "MODIFIED")
    assert evidence.overlap(run.events(), "low", "high") == Overlap(1, 7.0, ended=False)


def test_a_pod_that_has_ended_uses_nothing_although_it_is_there() -> None:
    run = Recorder()
    run.pod("low")
    run.pod("low", "MODIFIED", phase="Succeeded")
    run.now += 1
    run.pod("high")
    assert evidence.overlap(run.events(), "low", "high") is None


def test_pods_of_a_second_run_do_not_count_against_the_first() -> None:
    run = Recorder()
    run.pod("high")
    run.now += 9
    run.pod("low")
    assert evidence.overlap(run.events(), "low", "high") is None


def test_without_pods_of_the_next_job_nothing_overlaps() -> None:
    run = Recorder()
    run.pod("low")
    assert evidence.overlap(run.events(), "low", "high") is None


def test_ray_clusters_one_after_the_other_are_one_at_a_time() -> None:
    run = Recorder()
    run.add("RayCluster", "low-cluster", "DELETED", owner="low")
    run.add("RayCluster", "low-again", owner="low")
    assert evidence.at_once(Recording.of(run.events(), "low"), "RayCluster") == 1


def test_two_ray_clusters_at_a_time_are_two() -> None:
    run = Recorder()
    run.add("RayCluster", "low-again", owner="low")
    assert evidence.at_once(Recording.of(run.events(), "low"), "RayCluster") == 2


def test_lines_tell_changes_of_one_namespace_and_of_operator_and_kueue() -> None:
    run = Recorder()
    run.now += 2
    run.add("RayJob", "low", "MODIFIED", status={"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"})
    run.add("RayJob", "low", "MODIFIED", status={"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"})
    run.trace.add("operator", event="killed", incarnation=1)
    run.trace.add("kueue", event="ended")
    run.trace.add("object", **{**run.events()[0].data, "namespace": "others", "uid": "other"})
    run.trace.add("step", namespace="team", promise="low runs", held=True, seen="it does")
    assert evidence.lines(run.events(), "team") == (
        "+0.0 s RayJob low: New",
        "+0.0 s RayCluster low-cluster is there",
        "+0.0 s RayJob high: New",
        "+0.0 s RayCluster high-cluster is there",
        "+2.0 s RayJob low: Running RUNNING",
        "+2.0 s operator killed, incarnation 1",
        "+2.0 s Kueue ended",
        "+2.0 s held: low runs",
    )
