"""The objects of a run as the cluster stored them, whoever wrote them."""

from collections.abc import Callable, Iterable, Sequence

from kuberay_e2e.crash.report.lanes import Bar, Lane, Mark, Note, Shape, Tone
from kuberay_e2e.trace import Event

_KINDS = ("RayCluster", "Job", "Pod")
_MOST = 18
"""How many objects have a lane of their own; a RayJob that is retried often has more pods than anybody reads."""

_TONES = {
    "Pending": Tone.WAITING,
    "Initializing": Tone.WAITING,
    "Suspending": Tone.WAITING,
    "Suspended": Tone.WAITING,
    "Retrying": Tone.WAITING,
    "Waiting": Tone.WAITING,
    "PENDING": Tone.WAITING,
    "Running": Tone.RUNNING,
    "RUNNING": Tone.RUNNING,
    "ready": Tone.RUNNING,
    "active": Tone.RUNNING,
    "Complete": Tone.GOOD,
    "Succeeded": Tone.GOOD,
    "SUCCEEDED": Tone.GOOD,
    "Failed": Tone.BAD,
    "FAILED": Tone.BAD,
    "STOPPED": Tone.BAD,
    "ValidationFailed": Tone.BAD,
    "being deleted": Tone.GOING,
}


def lanes(events: Sequence[Event], begin: float, seconds: float) -> list[Lane]:
    """Two lanes for the RayJob's status, then one for each RayCluster, Job and Pod."""
    objects = _objects(events)
    found = []
    for versions in objects.get("RayJob", {}).values():
        found.append(_lane("jobDeploymentStatus", versions, _deployment_status, begin, seconds))
        found.append(_lane("jobStatus", versions, _job_status, begin, seconds))
    owned = [(kind, versions) for kind in _KINDS for versions in objects.get(kind, {}).values()]
    for kind, versions in owned[:_MOST]:
        found.append(_lane(_title(kind, versions[0]), versions, _phase, begin, seconds))
    if left := owned[_MOST:]:
        marks = [Mark(event.time - begin, Shape.TICK, _words(event)) for _, versions in left for event in versions]
        found.append(Lane(f"{len(left)} more objects", marks=tuple(marks)))
    return found


def told(events: Sequence[Event], begin: float) -> list[Lane]:
    """A lane for each kind of which the operator was told by its watches."""
    marks: dict[str, list[Mark]] = {}
    for event in events:
        if event.kind == "watch":
            data = event.data
            text = f"incarnation {data['incarnation']} is told: {data['event']} {data['resource']} {data['name']}"
            marks.setdefault(data["resource"], []).append(Mark(event.time - begin, Shape.TICK, text))
    return [Lane(f"told of {resource}", marks=tuple(found)) for resource, found in sorted(marks.items())]


def notes(events: Sequence[Event], begin: float) -> Iterable[Note]:
    """What came, changed its state, and went."""
    last: dict[str, str] = {}
    for event in events:
        if event.kind != "object":
            continue
        words = _words(event)
        if last.get(event.data["uid"]) != words:
            last[event.data["uid"]] = words
            yield Note(event.time - begin, "cluster", words)


def _objects(events: Sequence[Event]) -> dict[str, dict[str, list[Event]]]:
    found: dict[str, dict[str, list[Event]]] = {}
    for event in events:
        if event.kind == "object":
            found.setdefault(event.data["object_kind"], {}).setdefault(event.data["uid"], []).append(event)
    return found


def _lane(name: str, versions: Sequence[Event], state: Callable[[Event], str], begin: float, seconds: float) -> Lane:
    """One bar for each state; a tick for each version that is seen within one."""
    bars: list[Bar] = []
    ticks: list[Mark] = []
    current, since = state(versions[0]), versions[0].time - begin
    for event in versions[1:]:
        at, now = event.time - begin, state(event)
        if event.data["event"] == "DELETED" or now != current:
            bars.append(_bar(name, current, since, at))
            current, since = now, at
        else:
            ticks.append(Mark(at, Shape.TICK, f"{name}: {current or 'New'}, another version"))
    if versions[-1].data["event"] != "DELETED":
        bars.append(_bar(name, current, since, seconds))
    return Lane(name, tuple(bars), tuple(ticks))


def _bar(name: str, state: str, start: float, end: float) -> Bar:
    word = state or ("New" if name == "jobDeploymentStatus" else "none" if name == "jobStatus" else "")
    return Bar(start, end, _TONES.get(state, Tone.PLAIN), word, f"{name}: {word or 'there'}")


def _title(kind: str, event: Event) -> str:
    labels = event.data.get("labels") or {}
    role = labels.get("ray.io/node-type") or ("submitter" if "job-name" in labels else "")
    return f"{kind} {role}" if kind == "Pod" and role else f"{kind} {event.data['name']}"


def _deployment_status(event: Event) -> str:
    return str((event.data.get("status") or {}).get("jobDeploymentStatus") or "")


def _job_status(event: Event) -> str:
    return str((event.data.get("status") or {}).get("jobStatus") or "")


def _phase(event: Event) -> str:
    if event.data.get("deletion"):
        return "being deleted"
    status = event.data.get("status") or {}
    match event.data["object_kind"]:
        case "RayCluster":
            return str(status.get("state") or "")
        case "Job":
            ends = [item["type"] for item in status.get("conditions") or () if item.get("status") == "True"]
            ended = [end for end in ends if end in ("Complete", "Failed", "Suspended")]
            return str(ended[0]) if ended else "active" if status.get("active") else ""
        case _:
            return str(event.data.get("phase") or "")


def _words(event: Event) -> str:
    data = event.data
    name = f"{data['object_kind']} {data['name']}"
    if data["event"] == "DELETED":
        return f"{name} deleted"
    if data["object_kind"] == "RayJob":
        going = ", being deleted" if data.get("deletion") else ""
        return f"{name} {_deployment_status(event) or 'New'}, {_job_status(event) or 'no jobStatus'}{going}"
    return f"{name} {_phase(event) or 'there'}"
