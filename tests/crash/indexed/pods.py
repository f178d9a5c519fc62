"""Pods and a Job as the API server gives them."""

from collections.abc import Mapping
from typing import Any


def pod(part: int, phase: str = "Succeeded", **more: Any) -> dict[str, Any]:
    """A pod of a part; `code` is its exit code, `name` its name, `conditions` and `waiting` are as in its status."""
    name = more.get("name", f"crash-sweep-{part - 1}-abcde")
    state: dict[str, Any] = {"terminated": {"exitCode": more["code"]}} if "code" in more else {}
    if "waiting" in more:
        state = {"waiting": more["waiting"]}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-of-{name}",
            "creationTimestamp": more.get("created", "2026-01-01T00:00:00Z"),
            "labels": {"batch.kubernetes.io/job-completion-index": str(part - 1)},
        },
        "status": {
            "phase": phase,
            "conditions": more.get("conditions", []),
            "containerStatuses": [{"state": state}] if state else [],
        },
    }


def job(end: str = "", message: str = "") -> dict[str, Any]:
    """The Job; `end` is the type of its last condition."""
    condition: Mapping[str, str] = {"type": end, "status": "True", "reason": f"Because{end}", "message": message}
    return {"status": {"conditions": [condition] if end else []}}
