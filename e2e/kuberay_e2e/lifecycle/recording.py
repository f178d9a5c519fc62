"""What a recorded run says about one RayJob: pure functions over the trace and the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.trace import Event


@dataclass(frozen=True)
class Recording:
    """The versions of a RayJob and of what it owns, in the order in which the cluster stored them.

    Attributes:
        uid: UID of the RayJob.
        rayjob: Versions of the RayJob.
        owned: Versions of the objects that it owns, directly or through its RayCluster.
        events: The whole trace.
    """

    uid: str
    rayjob: Sequence[Event]
    owned: Sequence[Event]
    events: Sequence[Event]

    @classmethod
    def of(cls, events: Sequence[Event], uid: str) -> "Recording":
        """Pick one RayJob out of a trace."""
        objects = [event for event in events if event.kind == "object"]
        family = {uid}
        for event in objects:
            if family & set(event.data["owners"]):
                family.add(event.data["uid"])
        return cls(
            uid,
            [event for event in objects if event.data["uid"] == uid],
            [event for event in objects if event.data["uid"] in family - {uid}],
            events,
        )

    def statuses(self) -> list[Mapping[str, Any]]:
        """The RayJob's statuses, each different from the one before."""
        found: list[Mapping[str, Any]] = []
        for event in self.rayjob:
            status = event.data.get("status") or {}
            if not found or found[-1] != status:
                found.append(status)
        return found

    def values(self, field: str) -> list[str]:
        """The different non-empty values that a status field had, in order."""
        return _distinct(str(status[field]) for status in self.statuses() if status.get(field))

    def uids(self, kind: str) -> list[str]:
        """UIDs of the owned objects of a kind, in order of their appearance."""
        return _distinct(event.data["uid"] for event in self.owned if event.data["object_kind"] == kind)

    def deleted(self, kind: str) -> list[Event]:
        """The events by which owned objects of a kind went."""
        return [e for e in self.owned if e.data["object_kind"] == kind and e.data["event"] == "DELETED"]


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
