"""The Ray ledger of a run: what Ray was asked to do, and which entrypoints ran."""

from collections.abc import Iterable, Sequence

from kuberay_e2e.crash.report.lanes import Bar, Lane, Mark, Note, Shape, Tone
from kuberay_e2e.ray.ledger import AnyEntry, Deletion, End, Outcome, Start, Stop, Submission

_TONES = {"SUCCEEDED": Tone.GOOD, "FAILED": Tone.BAD, "STOPPED": Tone.GOING, "LOST": Tone.BAD}


def lanes(ledger: Sequence[AnyEntry], begin: float, seconds: float) -> list[Lane]:
    """A lane for each job in Ray: submissions and stops as marks, from start to end as a bar."""
    jobs = dict.fromkeys((str(entry.cluster.name), entry.submission_id) for entry in ledger)
    found = []
    for cluster, submission_id in jobs:
        entries = [e for e in ledger if (e.cluster.name, e.submission_id) == (cluster, submission_id)]
        marks = [
            Mark(entry.time - begin, _shape(entry), _words(entry))
            for entry in entries
            if not isinstance(entry.event, Start | End)
        ]
        found.append(Lane(f"Ray {submission_id or 'without id'}", tuple(_bars(entries, begin, seconds)), tuple(marks)))
    return found


def notes(ledger: Sequence[AnyEntry], begin: float) -> Iterable[Note]:
    """The same in words."""
    for entry in ledger:
        good = _shape(entry) in (Shape.DOT, Shape.TICK)
        where = f"{entry.submission_id or 'without id'} in {entry.cluster.name}"
        yield Note(entry.time - begin, "Ray", f"{where}: {_words(entry)}", Tone.PLAIN if good else Tone.BAD)


def _bars(entries: Sequence[AnyEntry], begin: float, seconds: float) -> Iterable[Bar]:
    started: float | None = None
    for entry in entries:
        at = entry.time - begin
        if isinstance(entry.event, Start):
            if started is not None:
                yield Bar(started, at, Tone.RUNNING, "runs", "the entrypoint runs, and is started again")
            started = at
        elif isinstance(entry.event, End):
            status = entry.event.status
            tone = _TONES.get(status, Tone.PLAIN)
            yield Bar(at if started is None else started, at, tone, status, f"the entrypoint ran: {status}")
            started = None
    if started is not None:
        yield Bar(started, seconds, Tone.RUNNING, "runs", "the entrypoint runs to the end of the recording")


def _shape(entry: AnyEntry) -> Shape:
    match entry.event:
        case Submission(outcome=Outcome.ACCEPTED):
            return Shape.DOT
        case Submission():
            return Shape.DIAMOND
        case Stop(stopped=stopped):
            return Shape.CROSS if stopped else Shape.DIAMOND
        case Deletion(deleted=deleted):
            return Shape.CROSS if deleted else Shape.DIAMOND
        case _:
            return Shape.TICK


def _words(entry: AnyEntry) -> str:
    match entry.event:
        case Submission(caller=caller, outcome=outcome, status_code=code):
            return f"submission by {caller}: {outcome} ({code})"
        case Stop(caller=caller, stopped=stopped, status_code=code):
            return f"stop by {caller}: {'stopped' if stopped else 'there was nothing to stop'} ({code})"
        case Deletion(caller=caller, deleted=deleted, status_code=code):
            return f"deletion by {caller}: {'forgotten' if deleted else 'refused'} ({code})"
        case Start():
            return "the entrypoint starts"
        case End(status=status):
            return f"the entrypoint ends: {status}"
