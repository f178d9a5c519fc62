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


def ended(pod: Pod, exit_code: int) -> dict[str, Any]:
    """Status of a pod whose containers ended with an exit code."""
    reason = "Completed" if exit_code == 0 else "Error"
    state = {
        "terminated": {
            "exitCode": exit_code,
            "reason": reason,
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
