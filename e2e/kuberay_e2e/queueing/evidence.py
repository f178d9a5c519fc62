"""What was recorded while a scenario was played, as lines in the order of time: pure functions over the trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.trace import Event

_SHOWN = {"RayCluster", "Job", "Pod"}
_STATUS = ("jobDeploymentStatus", "jobStatus", "reason")


def lines(events: Sequence[Event], namespace: str) -> tuple[str, ...]:
    """What happened in a namespace, and to the operator and Kueue.

    Args:
        events: The trace from the scenario's begin on.
        namespace: The scenario's namespace.
    """
    found: list[str] = []
    before: dict[str, str] = {}
    for event in events:
        text = _text(event, namespace)
        subject = f"{event.data.get('object_kind')}/{event.data.get('uid')}"
        if not text or before.get(subject) == text:
            continue
        if event.kind == "object":
            before[subject] = text
        found.append(f"+{event.time - events[0].time:.1f} s {text}")
    return tuple(found)


@dataclass(frozen=True)
class Overlap:
    """Pods of one job that were still there when the first pod of the next was created.

    Attributes:
        pods: Their number.
        seconds: How long the last of them was there after that.
        ended: Whether all of them have ended; else `seconds` is how long was looked.
    """

    pods: int
    seconds: float
    ended: bool


def overlap(events: Sequence[Event], before: str, after: str) -> Overlap | None:
    """Pods of a job that were there when another job's first pod was created; None where there were none.

    Args:
        events: The trace.
        before: UID of the job that gave its quota back.
        after: UID of the job that got it.
    """
    created, _ = _spans(Recording.of(events, after))
    if not created:
        return None
    begin = min(created.values())
    theirs, ended = _spans(Recording.of(events, before))
    now = events[-1].time
    left = [uid for uid, time in theirs.items() if time < begin < ended.get(uid, now)]
    if not left:
        return None
    seconds = max(ended.get(uid, now) for uid in left) - begin
    return Overlap(len(left), seconds, all(uid in ended for uid in left))


def at_once(recording: Recording, kind: str) -> int:
    """The most objects of a kind that a job had at one time."""
    most, present = 0, set[str]()
    for event in recording.owned:
        if event.data["object_kind"] == kind:
            (present.discard if event.data["event"] == "DELETED" else present.add)(event.data["uid"])
            most = max(most, len(present))
    return most


def _spans(recording: Recording) -> tuple[dict[str, float], dict[str, float]]:
    created: dict[str, float] = {}
    ended: dict[str, float] = {}
    for event in recording.owned:
        if event.data["object_kind"] == "Pod":
            created.setdefault(event.data["uid"], event.time)
            if event.data["event"] == "DELETED" or event.data.get("phase") in ("Succeeded", "Failed"):
                ended.setdefault(event.data["uid"], event.time)
    return created, ended


def _text(event: Event, namespace: str) -> str:
    data = event.data
    if event.kind == "operator":
        return f"operator {data['event']}, incarnation {data.get('incarnation', '?')}"
    if event.kind == "kueue":
        return f"Kueue {data['event']}"
    if event.kind == "fault":
        return f"fault {data.get('fault', '')}"
    if data.get("namespace") != namespace:
        return ""
    if event.kind == "step":
        return f"{'held' if data['held'] else 'BROKEN'}: {data['promise']}"
    return _object_text(data) if event.kind == "object" else ""


def _object_text(data: Mapping[str, Any]) -> str:
    kind, name = data["object_kind"], data["name"]
    if kind == "RayJob" and data["event"] != "DELETED":
        status = data.get("status") or {}
        words = [str(status.get(field) or "") for field in _STATUS]
        return f"RayJob {name}: {' '.join(word for word in words if word) or 'New'}"
    if kind in {*_SHOWN, "RayJob"}:
        state = "deleted" if data["event"] == "DELETED" else "is there"
        return f"{kind} {name} {state}"
    return ""
