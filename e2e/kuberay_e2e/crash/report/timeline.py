"""The timeline of a run: what happened in lanes one above the other, on one axis of time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kuberay_e2e.crash.report import clusterlanes, raylanes, writelanes
from kuberay_e2e.crash.report.evidence import Evidence
from kuberay_e2e.crash.report.lanes import Bar, Lane, Note, Tone
from kuberay_e2e.trace import Event


@dataclass(frozen=True)
class Timeline:
    """What happened in a run.

    Attributes:
        seconds: How long the axis is.
        ticks: Seconds at which the axis has a mark.
        fault: Seconds at which the fault acted; None where none did.
        lanes: From top to bottom.
        notes: All of it in words, in order of time.
    """

    seconds: float
    ticks: tuple[int, ...]
    fault: float | None
    lanes: tuple[Lane, ...]
    notes: tuple[Note, ...]


def timeline(evidence: Evidence, *, watches: bool = False) -> Timeline | None:
    """Lay out what was recorded of a run; None where nothing was.

    The axis begins with the first event, mostly the start of the operator.

    Args:
        evidence: What was recorded.
        watches: Show, too, when the operator was told of each version of an object.
    """
    events = [event for event in evidence.events if event.kind != "step"]
    if not events:
        return None
    begin = events[0].time
    end = max([event.time for event in events] + [entry.time for entry in evidence.ledger])
    seconds = max(end - begin, 0.001)
    found = [
        *_operator(events, begin, seconds),
        *writelanes.lanes(events, begin),
        *(clusterlanes.told(events, begin) if watches else ()),
        *clusterlanes.lanes(events, begin, seconds),
        *raylanes.lanes(evidence.ledger, begin, seconds),
    ]
    faults = [event for event in events if event.kind == "fault"]
    notes = [
        *_operator_notes(events, begin),
        *writelanes.notes(events, begin),
        *clusterlanes.notes(events, begin),
        *raylanes.notes(evidence.ledger, begin),
    ]
    return Timeline(
        seconds,
        _ticks(seconds),
        faults[0].time - begin if faults else None,
        tuple(lane for lane in found if lane.bars or lane.marks),
        tuple(sorted(notes, key=lambda note: note.at)),
    )


def _operator(events: Sequence[Event], begin: float, seconds: float) -> Iterable[Lane]:
    """A lane for all incarnations, or one for each where two of them live at the same time."""
    bars: list[Bar] = []
    open_bars: dict[int, Event] = {}
    for event in _of_operator(events):
        number = int(event.data["incarnation"])
        if event.data["event"] == "started":
            open_bars[number] = event
        elif number in open_bars and event.data["event"] in ("killed", "stopped"):
            bars.append(_life(open_bars.pop(number), event.time - begin, begin, event.data["event"]))
    bars += [_life(event, seconds, begin, "") for event in open_bars.values()]
    bars.sort(key=lambda bar: bar.start)
    if all(before.end <= after.start for before, after in pairwise(bars)):
        return [Lane("operator", tuple(bars))]
    return [Lane(f"operator {bar.label.split()[0]}", (bar,)) for bar in bars]


def _life(started: Event, end: float, begin: float, how: str) -> Bar:
    number, version = started.data["incarnation"], started.data.get("version", "")
    label = f"#{number} {version}".strip()
    ended = {"killed": "killed", "stopped": "stopped"}.get(how, "lives to the end")
    text = f"incarnation {number} {version}".strip() + f", {ended}"
    return Bar(started.time - begin, end, Tone.LIFE, label, text, killed=how == "killed")


def _operator_notes(events: Sequence[Event], begin: float) -> Iterable[Note]:
    for event in events:
        if event.kind == "fault":
            yield Note(
                event.time - begin, "fault", str(event.data.get("fault") or event.data.get("action", "")), Tone.BAD
            )
        elif event.kind == "operator" and "incarnation" in event.data:
            version = f" ({event.data['version']})" if event.data.get("version") else ""
            what = f"incarnation {event.data['incarnation']} {event.data['event']}{version}"
            yield Note(
                event.time - begin, "operator", what, Tone.BAD if event.data["event"] == "killed" else Tone.PLAIN
            )


def _of_operator(events: Sequence[Event]) -> Iterable[Event]:
    return (event for event in events if event.kind == "operator" and "incarnation" in event.data)


def _ticks(seconds: float) -> tuple[int, ...]:
    step = next((step for step in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600) if seconds / step <= 12), 1800)
    return tuple(range(0, int(seconds) + 1, step))
