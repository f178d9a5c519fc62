"""Pod statuses are those that a kubelet writes."""

from typing import Any

from kuberay_e2e.pods import statuses

POD = {
    "spec": {"containers": [{"name": "ray", "image": "ray"}, {"name": "ray-job-submitter", "image": "ray"}]},
    "status": {"startTime": "2026-01-01T00:00:00Z"},
}


def condition(status: dict[str, Any], name: str) -> tuple[str, str]:
    [found] = [item for item in status["conditions"] if item["type"] == name]
    return found["status"], found.get("reason", "")


def test_a_pod_of_which_one_container_has_ended_runs_on_and_is_not_ready() -> None:
    before = statuses.ready(POD)
    after = statuses.without(before, "ray-job-submitter", 1)
    ray, submitter = after["containerStatuses"]
    assert after["phase"] == "Running"
    assert condition(before, "Ready") == ("True", "")
    assert condition(after, "Ready") == ("False", "ContainersNotReady")
    assert ray == before["containerStatuses"][0]
    assert submitter["state"]["terminated"]["exitCode"] == 1
    assert submitter["state"]["terminated"]["reason"] == "Error"


def test_a_pod_whose_container_has_ended_well_has_succeeded() -> None:
    status = statuses.ended(POD, 0)
    assert status["phase"] == "Succeeded"
    assert condition(status, "Ready") == ("False", "PodCompleted")
