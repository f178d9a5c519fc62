"""Scheduling is one choice: at once, in a queue of Kueue, or by hand."""

import pytest

from pulumi_kuberay import ArgumentError, KueueQueue, RayJobArgs, Scheduling, queue, suspended
from pulumi_kuberay.ray_job_manifest import ray_job_manifest
from pulumi_kuberay.scheduling import scheduling_fields


def test_a_workload_is_not_scheduled_unless_asked() -> None:
    made = scheduling_fields(None)

    assert (made.labels, made.annotations, made.spec) == ({}, {}, {})


def test_a_queue_is_labels_and_never_suspend() -> None:
    made = scheduling_fields(queue("team", priority_class="high", max_exec_time_seconds=600, elastic=True))

    assert made.labels == {
        "kueue.x-k8s.io/queue-name": "team",
        "kueue.x-k8s.io/priority-class": "high",
        "kueue.x-k8s.io/max-exec-time-seconds": "600",
    }
    assert made.annotations == {"kueue.x-k8s.io/elastic-job": "true"}
    assert made.spec == {}


@pytest.mark.parametrize("now", [True, False])
def test_suspension_by_hand_is_declared(now: bool) -> None:
    made = ray_job_manifest("counter", RayJobArgs(entrypoint="python count.py", scheduling=suspended(now)))

    assert made["spec"]["suspend"] is now
    assert "labels" not in made["metadata"]


def test_the_labels_of_a_queue_stand_beside_the_user_s_own() -> None:
    args = RayJobArgs(entrypoint="python count.py", labels={"team": "a"}, scheduling=queue("team"))

    assert ray_job_manifest("counter", args)["metadata"]["labels"] == {"team": "a", "kueue.x-k8s.io/queue-name": "team"}


@pytest.mark.parametrize(
    ("scheduling", "sentence"),
    [
        (Scheduling(), "but none of them is set"),
        (Scheduling(queue=KueueQueue(name="team"), suspended=True), "but both are set"),
        (queue("team", max_exec_time_seconds=0), "must be 1 or more, but it is 0"),
    ],
)
def test_what_is_not_one_choice_is_refused(scheduling: Scheduling, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        scheduling_fields(scheduling)
