"""What has been seen of one RayJob so far, kept up with the trace."""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.clusters.stages import RAY_NODE_TYPE
from kuberay_e2e.trace import Event, Trace


class View:
    """The versions of a RayJob, and the latest of everything in its namespace.

    Args:
        trace: The trace of one run, which has one RayJob.
        name: Name of the RayJob.
    """

    def __init__(self, trace: Trace, name: str) -> None:
        self._name = name
        self._objects: dict[str, Mapping[str, Any]] = {}
        self._statuses: list[Mapping[str, Any]] = []
        self._rayjob: Mapping[str, Any] | None = None
        trace.listen(self._see)

    @property
    def there(self) -> bool:
        """True while the RayJob exists."""
        return self._rayjob is not None and self._rayjob["event"] != "DELETED"

    @property
    def gone(self) -> bool:
        """True once the RayJob existed and has gone."""
        return self._rayjob is not None and self._rayjob["event"] == "DELETED"

    @property
    def existence(self) -> str:
        """Whether the RayJob exists, as a verb."""
        return "is there" if self.there else "is gone" if self.gone else "was never seen"

    @property
    def status(self) -> Mapping[str, Any]:
        """The latest status of the RayJob."""
        return self._statuses[-1] if self._statuses else {}

    def seen(self, **fields: str) -> bool:
        """True if the RayJob's status ever had all these values at once."""
        return any(_has(status, fields) for status in tuple(self._statuses))

    def now(self, **fields: str) -> bool:
        """True if the RayJob is there and its status has all these values."""
        return self.there and _has(self.status, fields)

    def alive(self, kind: str) -> list[Mapping[str, Any]]:
        """The latest versions of the objects of a kind that exist."""
        return [
            data for data in tuple(self._objects.values()) if data["object_kind"] == kind and data["event"] != "DELETED"
        ]

    def pods(self, node_type: str) -> list[Mapping[str, Any]]:
        """The pods of RayClusters that exist, of type `head` or `worker`."""
        return [pod for pod in self.alive("Pod") if pod["labels"].get(RAY_NODE_TYPE) == node_type]

    def left(self) -> list[str]:
        """What still exists, as kind and name."""
        return [
            f"{data['object_kind']} {data['name']}"
            for data in tuple(self._objects.values())
            if data["event"] != "DELETED"
        ]

    def _see(self, event: Event) -> None:
        if event.kind != "object":
            return
        data = event.data
        self._objects[data["uid"]] = data
        if data["object_kind"] == "RayJob" and data["name"] == self._name:
            self._rayjob = data
            status = data.get("status") or {}
            if not self._statuses or self._statuses[-1] != status:
                self._statuses.append(status)


def _has(status: Mapping[str, Any], fields: Mapping[str, str]) -> bool:
    return all(str(status.get(name) or "") == value for name, value in fields.items())
