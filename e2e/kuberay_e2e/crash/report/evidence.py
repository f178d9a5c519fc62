"""What was recorded of a run, read from its folder."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_e2e.ray.ledger import AnyEntry, Entry
from kuberay_e2e.trace import Event

TRACE, LEDGER = "trace.jsonl", "ledger.jsonl"


@dataclass(frozen=True)
class Evidence:
    """What is left of a recording.

    Attributes:
        events: The trace, in order.
        ledger: What Ray was asked to do and did, in order.
        gap: What is missing of it, a sentence; empty where all is there.
    """

    events: tuple[Event, ...]
    ledger: tuple[AnyEntry, ...]
    gap: str = ""


def read(folder: Path) -> Evidence:
    """Read the trace and the ledger of a run, as far as they are there and whole."""
    events, events_gap = _events(folder / TRACE)
    ledger = read_ledger(folder)
    ledger_gap = "" if ledger is not None else f"{LEDGER} is not there or not whole."
    gap = f"The files of this run are not there any more: {folder.name}." if not folder.is_dir() else ""
    return Evidence(tuple(events), ledger or (), gap or " ".join(filter(None, (events_gap, ledger_gap))))


def read_ledger(folder: Path) -> tuple[AnyEntry, ...] | None:
    """The ledger of a run; None where it is not there or cannot be read to its end."""
    path = folder / LEDGER
    try:
        return tuple(Entry.from_json(record) for record in _records(path))
    except (OSError, ValueError):
        return None


def _events(path: Path) -> tuple[list[Event], str]:
    events: list[Event] = []
    try:
        for record in _records(path):
            known = {name: record.pop(name) for name in ("sequence", "time", "kind")}
            events.append(Event(known["sequence"], float(known["time"]), known["kind"], record))
    except FileNotFoundError:
        return events, f"{TRACE} is not there."
    except (OSError, ValueError, KeyError, TypeError) as error:
        return events, f"{TRACE} can be read up to line {len(events)} only: {error!r}."
    return events, ""


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as file:
        for line in file:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError(f"Expected a JSON object, got {line[:80]!r}.")
            yield record
