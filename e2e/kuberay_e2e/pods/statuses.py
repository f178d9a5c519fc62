"""Pod statuses as a kubelet writes them, built from the pod's own spec."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Pod = Mapping[str, Any]


def now() -> str:
    """The present time as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def ready(pod: Pod) -> dict[str, Any]:
    """Status of a pod whose containers all run and are ready."""
    return {
        "phase": "Running",
        "conditions": _conditions("True", ""),
        "containerStatuses": [
            {
                **_container(container),
                "ready": True,
                "started": True,
                "state": {"running": {"startedAt": now()}},
            }
            for container in pod["spec"]["containers"]
        ],
    }


def failed_to_start(pod: Pod, message: str) -> dict[str, Any]:
    """Status of a pod whose containers do not start."""
    state = {"waiting": {"reason": "RunContainerError", "message": message}}
    return {
        "containerStatuses": [
            {**_container(container), "ready": False, "started": False, "state": state}
            for container in pod["spec"]["containers"]
        ],
    }


def without(ready: Mapping[str, Any], name: str, exit_code: int) -> dict[str, Any]:
    """Status of a pod that was ready and of whose containers one has ended for good: not ready any more.

    Args:
        ready: Its status before.
        name: The container that has ended.
        exit_code: Its exit code.
    """
    terminated = {"exitCode": exit_code, "reason": _reason(exit_code), "finishedAt": now()}
    return {
        **ready,
        "conditions": _conditions("False", "ContainersNotReady"),
        "containerStatuses": [
            {
                **container,
                "ready": False,
                "started": False,
                "state": {"terminated": {**terminated, "startedAt": container["state"]["running"]["startedAt"]}},
            }
            if container["name"] == name
            else container
            for container in ready["containerStatuses"]
        ],
    }


def ended(pod: Pod, exit_code: int) -> dict[str, Any]:
    """Status of a pod whose containers ended with an exit code."""
    state = {
        "terminated": {
            "exitCode": exit_code,
            "reason": _reason(exit_code),
            "startedAt": (pod.get("status") or {}).get("startTime") or now(),
            "finishedAt": now(),
        }
    }
    return {
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "conditions": _conditions("False", "PodCompleted" if exit_code == 0 else "PodFailed"),
        "containerStatuses": [
            {**_container(container), "ready": False, "started": False, "state": state}
            for container in pod["spec"]["containers"]
        ],
    }


def _reason(exit_code: int) -> str:
    return "Completed" if exit_code == 0 else "Error"


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "restartCount": 0,
    }


def _conditions(status: str, reason: str) -> list[dict[str, Any]]:
    condition = {"status": status, "lastTransitionTime": now(), **({"reason": reason} if reason else {})}
    return [
        {"type": "Initialized", "status": "True", "lastTransitionTime": now()},
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": now()},
        {"type": "ContainersReady", **condition},
        {"type": "Ready", **condition},
    ]
