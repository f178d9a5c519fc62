"""How often the entrypoint ran: what a user's own side effects have to reckon with."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kuberay_e2e.ray.ledger import AnyEntry, Start
from kuberay_e2e.verdicts import Finding

_PROMISE = "the entrypoint runs as often as it should"


@dataclass(frozen=True)
class Effects:
    """The starts of a run's entrypoint, compared with those of a run without a fault.

    Attributes:
        starts: How often it started.
        expected: How often it starts without a fault.
        more: True where an attempt started it twice, or there was an attempt too many.
        fewer: True where an attempt never started it.
    """

    starts: int
    expected: int
    more: bool
    fewer: bool


class Guarantee(StrEnum):
    """What was seen of all runs of a cell together, for each attempt of the RayJob."""

    EXACTLY_ONCE = "exactly once"
    AT_LEAST_ONCE = "at least once"
    AT_MOST_ONCE = "at most once"
    NEITHER = "neither"
    UNKNOWN = "not known"


def of_ledger(ledger: Sequence[AnyEntry], expected: int, *, may_be_fewer: bool = False) -> Effects:
    """The effects that a ledger tells of.

    Attempts are told apart by their submission id, so that one that ran twice does not make up for one that never ran.

    Args:
        ledger: What Ray was asked to do and did in the run.
        expected: Starts of a run without a fault.
        may_be_fewer: The user deleted the RayJob early, so that a start less is no loss.
    """
    starts = Counter(entry.submission_id for entry in ledger if isinstance(entry.event, Start))
    more = len(starts) > expected or any(count > 1 for count in starts.values())
    return Effects(starts.total(), expected, more, len(starts) < expected and not may_be_fewer)


def of_findings(findings: Iterable[Finding], expected: int, *, may_be_fewer: bool = False) -> Effects | None:
    """The effects that the oracle of starts tells of, for a run whose ledger is gone; None where it says nothing."""
    seen = next((finding.seen for finding in findings if finding.promise == _PROMISE), "")
    if not seen.isdecimal():
        return None
    return Effects(int(seen), expected, int(seen) > expected, int(seen) < expected and not may_be_fewer)


def guarantee(effects: Sequence[Effects]) -> Guarantee:
    """What some runs have in common."""
    if not effects:
        return Guarantee.UNKNOWN
    more, fewer = any(one.more for one in effects), any(one.fewer for one in effects)
    if more and fewer:
        return Guarantee.NEITHER
    if more:
        return Guarantee.AT_LEAST_ONCE
    return Guarantee.AT_MOST_ONCE if fewer else Guarantee.EXACTLY_ONCE
