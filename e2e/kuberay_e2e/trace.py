"""The trace of a run: everything that happened, in order, in memory and as JSON lines on disk."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        sequence: Position in the trace, from 0.
        time: Wall-clock time, seconds since the epoch.
        kind: What it is: `request`, `response`, `watch`, `fault`, `operator`, `ray`, `object`, `step`, `user`.
        data: The particulars, JSON values only.
    """

    sequence: int
    time: float
    kind: str
    data: Mapping[str, Any]


class Trace:
    """An append-only record, written line by line as it grows.

    Args:
        path: File for the JSON lines; default: memory only.
        clock: Wall clock.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._events: list[Event] = []
        self._clock = clock
        self._lock = threading.Lock()
        self._file = path.open("a", buffering=1) if path else None
        self._listeners: list[Callable[[Event], None]] = []

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event from now on, in the thread that adds it; it must return at once."""
        self._listeners.append(listener)

    def add(self, kind: str, **data: Any) -> Event:
        """Append an event and return it."""
        with self._lock:
            event = Event(len(self._events), self._clock(), kind, data)
            self._events.append(event)
            if self._file and not self._file.closed:
                line = {"sequence": event.sequence, "time": round(event.time, 6), "kind": kind, **data}
                self._file.write(json.dumps(line, default=str) + "\n")
        for listener in self._listeners:
            listener(event)
        return event

    def events(self, *kinds: str) -> list[Event]:
        """The events so far; default: of all kinds."""
        with self._lock:
            return [event for event in self._events if not kinds or event.kind in kinds]

    def close(self) -> None:
        """Close the file; the events in memory stay."""
        with self._lock:
            if self._file:
                self._file.close()
