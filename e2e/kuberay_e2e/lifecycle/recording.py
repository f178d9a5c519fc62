"""What a recorded run says about one RayJob: pure functions over the trace and the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.trace import Event
from kuberay_model.states import job_status_legal, legal


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

    def transitions(self) -> tuple[list[str], str]:
        """The changes of status that KubeRay's state machine does not have, and the path of `jobDeploymentStatus`."""
        wrong, path = [], [""]
        before: Mapping[str, Any] = {}
        for after in self.statuses():
            old, new = (str(item.get("jobDeploymentStatus") or "") for item in (before, after))
            old_job, new_job = (str(item.get("jobStatus") or "") for item in (before, after))
            try:
                if not legal(old, new):
                    wrong.append(f"jobDeploymentStatus {old or 'New'} -> {new or 'New'}")
                if not job_status_legal(old_job, new_job, deployment_status=new):
                    wrong.append(f"jobStatus {old_job or 'New'} -> {new_job or 'New'}")
            except ValueError as error:
                wrong.append(str(error))
            if new != path[-1]:
                path.append(new)
            before = after
        return wrong, " -> ".join(state or "New" for state in path)

    def left(self) -> tuple[list[str], int]:
        """What was not seen to go of the RayJob and what it owns, and how many objects there were."""
        last = {event.data["uid"]: event.data for event in (*self.rayjob, *self.owned)}
        left = [f"{data['object_kind']} {data['name']}" for data in last.values() if data["event"] != "DELETED"]
        return left, len(last)

    def late_writes(self) -> tuple[list[str], int]:
        """What dead incarnations of the operator had sent and was forwarded, and how many of them were killed."""
        dead: set[int] = set()
        late = []
        for event in self.events:
            if event.kind == "operator" and event.data["event"] == "killed":
                dead.add(event.data["incarnation"])
            elif event.kind == "request" and event.data["incarnation"] in dead and "refused" not in event.data:
                late.append(str(event.data.get("write") or event.data["path"]))
        return late, len(dead)

    def deleted(self, kind: str) -> list[Event]:
        """The events by which owned objects of a kind went."""
        return [e for e in self.owned if e.data["object_kind"] == kind and e.data["event"] == "DELETED"]


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
