"""The writes of the operator and its calls to Ray, with their answers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kuberay_e2e.crash.report.lanes import Lane, Mark, Note, Shape, Tone
from kuberay_e2e.trace import Event

_LANES = {"RayJob": "writes RayJob", "RayCluster": "writes RayCluster", "RayJobs": "calls to Ray"}
_OTHERS = "writes others"
_NAMES = (*_LANES.values(), _OTHERS)


def lanes(events: Sequence[Event], begin: float) -> list[Lane]:
    """A lane for the writes of RayJobs, of RayClusters, of all other kinds, and for calls to Ray."""
    answers, faults = _answers(events), _faults(events)
    marks: dict[str, list[Mark]] = {name: [] for name in (_NAMES[0], _NAMES[1], _OTHERS, _NAMES[2])}
    for event in _writes(events):
        shape, answer = _answer(event, answers.get(event.sequence))
        lane = _LANES.get(_kind(event), _OTHERS)
        fault = event.sequence in faults
        marks[lane].append(Mark(event.time - begin, shape, f"{_name(event)}: {answer}", fault))
    return [Lane(name, marks=tuple(found)) for name, found in marks.items()]


def notes(events: Sequence[Event], begin: float) -> Iterable[Note]:
    """The same in words."""
    answers = _answers(events)
    for event in _writes(events):
        shape, answer = _answer(event, answers.get(event.sequence))
        tone = Tone.PLAIN if shape is Shape.DOT else Tone.BAD
        yield Note(event.time - begin, f"#{event.data['incarnation']} writes", f"{_name(event)}: {answer}", tone)


def _writes(events: Sequence[Event]) -> Iterable[Event]:
    return (event for event in events if event.kind == "request" and "write" in event.data)


def _answers(events: Sequence[Event]) -> Mapping[Any, Mapping[str, Any]]:
    return {event.data["of"]: event.data for event in events if event.kind == "response"}


def _faults(events: Sequence[Event]) -> set[Any]:
    return {event.data["of"] for event in events if event.kind == "fault" and "of" in event.data}


def _kind(event: Event) -> str:
    """The kind, which is there in writes too that no fault can choose, such as `deletecollection:Pod#1`."""
    return re.split("[/~:#]", str(event.data["write"]).partition(":")[2])[0]


def _name(event: Event) -> str:
    name = str(event.data.get("name") or "")
    return f"{event.data['write']} {name}".rstrip()


def _answer(request: Event, answer: Mapping[str, Any] | None) -> tuple[Shape, str]:
    if "refused" in request.data:
        return Shape.CROSS, f"not forwarded, {request.data['refused']}"
    if answer is None:
        return Shape.CROSS, "not forwarded"
    status = int(answer["status"])
    message = f" {answer['message']}" if answer.get("message") else ""
    if not answer.get("delivered", True):
        return Shape.RING, f"{status}, the answer was withheld"
    return (Shape.DOT if status < 400 else Shape.DIAMOND), f"{status}{message}"
