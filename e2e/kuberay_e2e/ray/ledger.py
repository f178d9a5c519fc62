"""The ledger: what was asked of Ray's Jobs API, and which entrypoints really ran, in order.

It is the evidence the oracles judge a run by: Kubernetes says what the operator recorded, the ledger says
what Ray was told to do and did. Entries are only ever appended.
"""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar, cast


@dataclass(frozen=True, order=True)
class RayClusterKey:
    """A RayCluster by namespace and name. It has one head."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Outcome(StrEnum):
    """What Ray answered to a submission."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    """Refused: the submission id is taken."""
    REFUSED = "refused"
    """Refused for another reason, or not answered at all."""


@dataclass(frozen=True)
class Submission:
    """An attempt to submit a job.

    Attributes:
        entrypoint: The command as the caller sent it.
        caller: Who asked: `operator`, or `submitter/POD`.
        outcome: What Ray answered.
        status_code: HTTP status of the answer.
        metadata: The job's metadata as the caller sent it.
        runtime_env: The job's runtime environment as the caller sent it.
    """

    entrypoint: str
    caller: str
    outcome: Outcome
    status_code: int
    metadata: Mapping[str, str] = field(default_factory=dict)
    runtime_env: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stop:
    """A request to stop a job. `stopped` is Ray's answer: whether there was something to stop."""

    caller: str
    stopped: bool
    status_code: int


@dataclass(frozen=True)
class Deletion:
    """A request to forget a job. `deleted` is false where Ray refused, as it does before the job is over."""

    caller: str
    deleted: bool
    status_code: int


@dataclass(frozen=True)
class Start:
    """An entrypoint began to run."""

    entrypoint: str


@dataclass(frozen=True)
class End:
    """An entrypoint no longer runs.

    Attributes:
        status: Ray's terminal job status, SUCCEEDED, FAILED or STOPPED; LOST where the head went away first.
        exit_code: Exit code of the entrypoint, None where it has none (stopped, lost).
    """

    status: str
    exit_code: int | None = None


Event = Submission | Stop | Deletion | Start | End
E = TypeVar("E", Submission, Stop, Deletion, Start, End)

_EVENTS: Mapping[str, type[Event]] = {kind.__name__: kind for kind in (Submission, Stop, Deletion, Start, End)}


@dataclass(frozen=True)
class Entry(Generic[E]):
    """One line of the ledger.

    Attributes:
        sequence: Position in the ledger, from 0.
        time: Seconds since the epoch at which the event was asked for (requests) or seen (starts and ends).
        cluster: The RayCluster whose head it concerns.
        submission_id: Ray's submission id, which is the RayJob's `status.jobId`; empty where a refused
            submission named none.
        event: What happened.
    """

    sequence: int
    time: float
    cluster: RayClusterKey
    submission_id: str
    event: E

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON object; `Entry.from_json` reads it back."""
        return {
            "sequence": self.sequence,
            "time": self.time,
            "cluster": dataclasses.asdict(self.cluster),
            "submission_id": self.submission_id,
            "kind": type(self.event).__name__,
            **dataclasses.asdict(self.event),
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> "AnyEntry":
        """Read an entry back.

        Raises:
            ValueError: The record is not an entry of a ledger.
        """
        try:
            kind = _EVENTS[record["kind"]]
            values = {f.name: record[f.name] for f in dataclasses.fields(kind)}
            if kind is Submission:
                values["outcome"] = Outcome(values["outcome"])
            return cast(
                "AnyEntry",
                Entry(
                    record["sequence"],
                    record["time"],
                    RayClusterKey(**record["cluster"]),
                    record["submission_id"],
                    cast(Any, kind(**values)),
                ),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"Expected an entry of a Ray ledger, got {record!r}: {error}.") from error


AnyEntry = Entry[Submission] | Entry[Stop] | Entry[Deletion] | Entry[Start] | Entry[End]


class Ledger:
    """An append-only record, in memory and as JSON lines.

    Args:
        path: File that gets one JSON object per entry, flushed as it is written; None: memory only.
        clock: Seconds since the epoch.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._entries: list[AnyEntry] = []
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)

    @classmethod
    def load(cls, path: Path) -> "Ledger":
        """Read a ledger from its JSON lines file; entries recorded from then on stay in memory.

        Raises:
            OSError: The file cannot be read.
            ValueError: A line is not an entry.
        """
        ledger = cls()
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            try:
                ledger._entries.append(Entry.from_json(json.loads(line)))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
        return ledger

    def now(self) -> float:
        """The ledger's clock, in seconds since the epoch."""
        return self._clock()

    def record(self, cluster: RayClusterKey, submission_id: str, event: E, *, at: float | None = None) -> Entry[E]:
        """Append an event.

        Args:
            cluster: The RayCluster whose head it concerns.
            submission_id: Ray's submission id.
            event: What happened.
            at: When, in seconds since the epoch; default: now.
        """
        entry = Entry(len(self._entries), self._clock() if at is None else at, cluster, submission_id, event)
        self._entries.append(cast("AnyEntry", entry))
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(entry.to_json()) + "\n")
        return entry

    @property
    def entries(self) -> tuple[AnyEntry, ...]:
        """Everything so far, oldest first."""
        return tuple(self._entries)

    def submissions(self, submission_id: str | None = None) -> tuple[Entry[Submission], ...]:
        """Attempts to submit, accepted or not; of one submission id or of all."""
        return self._of(Submission, submission_id)

    def accepted(self, submission_id: str | None = None) -> tuple[Entry[Submission], ...]:
        """Submissions that Ray accepted."""
        return self._with(Outcome.ACCEPTED, submission_id)

    def duplicates(self, submission_id: str | None = None) -> tuple[Entry[Submission], ...]:
        """Submissions that Ray refused because the id was taken."""
        return self._with(Outcome.DUPLICATE, submission_id)

    def stops(self, submission_id: str | None = None) -> tuple[Entry[Stop], ...]:
        """Requests to stop a job."""
        return self._of(Stop, submission_id)

    def deletions(self, submission_id: str | None = None) -> tuple[Entry[Deletion], ...]:
        """Requests to forget a job."""
        return self._of(Deletion, submission_id)

    def starts(self, submission_id: str | None = None) -> tuple[Entry[Start], ...]:
        """Entrypoints that began to run."""
        return self._of(Start, submission_id)

    def ends(self, submission_id: str | None = None) -> tuple[Entry[End], ...]:
        """Entrypoints that no longer run."""
        return self._of(End, submission_id)

    def running(self, cluster: RayClusterKey) -> tuple[str, ...]:
        """Submission ids on a cluster whose entrypoint has started and not ended."""
        ids: list[str] = []
        for entry in self._entries:
            if entry.cluster == cluster and isinstance(entry.event, Start):
                ids.append(entry.submission_id)
            elif entry.cluster == cluster and isinstance(entry.event, End) and entry.submission_id in ids:
                ids.remove(entry.submission_id)
        return tuple(ids)

    def _of(self, kind: type[E], submission_id: str | None) -> tuple[Entry[E], ...]:
        return tuple(
            entry
            for entry in self._entries
            if isinstance(entry.event, kind) and submission_id in (None, entry.submission_id)
        )

    def _with(self, outcome: Outcome, submission_id: str | None) -> tuple[Entry[Submission], ...]:
        return tuple(entry for entry in self.submissions(submission_id) if entry.event.outcome is outcome)
