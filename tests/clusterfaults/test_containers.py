"""Containers are found by what Kubernetes and the container runtime say of them."""

from typing import Any

import pytest

from kuberay_e2e.clusterfaults.actions import container_ids, process_number
from kuberay_e2e.clusterfaults.submitters import oom_killed
from kuberay_e2e.errors import HarnessError


def pod(*statuses: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "head"}, "status": {"containerStatuses": list(statuses)}}


RAY = {"name": "ray-head", "containerID": "containerd://aaa", "state": {"running": {}}}
SUBMITTER = {"name": "ray-job-submitter", "containerID": "containerd://bbb", "state": {"running": {}}}
WAITING = {"name": "ray-head", "state": {"waiting": {"reason": "ContainerCreating"}}}

TASKS = "TASK    PID     STATUS\naaa     1234    RUNNING\nbbb     99      STOPPED\n"


def test_all_running_containers_of_a_pod_or_the_one_of_a_name() -> None:
    assert container_ids(pod(RAY, SUBMITTER)) == ["aaa", "bbb"]
    assert container_ids(pod(RAY, SUBMITTER), "ray-job-submitter") == ["bbb"]


@pytest.mark.parametrize("missing", [pod(), pod(WAITING), {"metadata": {"name": "head"}}])
def test_a_pod_without_a_running_container_is_refused(missing: dict[str, Any]) -> None:
    with pytest.raises(HarnessError, match="pod head to run; none does"):
        container_ids(missing)


def test_the_process_of_a_container() -> None:
    assert process_number(TASKS, "aaa") == 1234
    with pytest.raises(HarnessError, match="ccc among the tasks"):
        process_number(TASKS, "ccc")


@pytest.mark.parametrize("when", ["state", "lastState"])
def test_lack_of_memory_is_seen_now_and_before_a_restart(when: str) -> None:
    ended = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    assert oom_killed(pod({"name": "submitter", "state": {"running": {}}, when: ended}))
    assert not oom_killed(pod({"name": "submitter", when: {"terminated": {"reason": "Error", "exitCode": 137}}}))
