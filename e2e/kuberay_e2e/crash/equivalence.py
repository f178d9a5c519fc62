"""Points that are the same as others, and why: a plan leaves them out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import Point
from kuberay_e2e.gateway import Position, WriteSelector


@dataclass(frozen=True)
class Equivalence:
    """A point that is left out.

    Attributes:
        point: The point.
        same: The point that stands for it.
        reason: Why that is enough, a sentence.
    """

    point: Point
    same: Point
    reason: str


REASONS: Mapping[Position, tuple[Position, str]] = {
    Position.AFTER: (
        Position.COMMITTED,
        "In both the write is stored and the operator is gone with all that it knew, so that nobody has used the "
        "response.",
    ),
    Position.CONFLICT: (
        Position.FAILED,
        "In both nothing is stored and the operator gets an error; KubeRay 1.6.2 asks of no error whether it is a "
        "conflict (controllers/ray has no IsConflict), and looks again.",
    ),
    Position.TIMEOUT: (
        Position.LOST,
        "In both the write is stored and the operator gets an error; KubeRay 1.6.2 asks of no error whether it is a "
        "timeout (controllers/ray has no IsTimeout), and looks again.",
    ),
}
"""For a position of the same write: the one that stands for it, and why."""

_EVERYWHERE = (Position.BEFORE, Position.COMMITTED, Position.LOST, Position.AFTER)

RETRIED = (
    "client-go itself repeats a request that was answered 429, after Retry-After, so that the controller does not "
    "notice (rest/with_retry.go); each kind of write is run once."
)

SAME_STATE = (
    "An earlier scenario has made the same changes of its RayJob's status, in the same order, up to this write; what "
    "the operator does after an error or with a stale cache depends on nothing else."
)


def equivalents(points: Sequence[Point], learned: Mapping[str, Learned]) -> dict[Point, Equivalence]:
    """The points that others of the same plan stand for.

    Kills are run in every scenario. Errors and a stale cache are run where the operator meets them in a new state.

    Args:
        points: The plan, without variants.
        learned: The writes of each scenario.
    """
    there = set(points)
    found: dict[Point, Equivalence] = {}
    first: dict[tuple[object, ...], Point] = {}
    states = {name: _states(entry) for name, entry in learned.items()}
    for point in points:
        assert point.write is not None
        position, reason = REASONS.get(point.position, (None, ""))
        if position is not None and (position is Position.COMMITTED or not _is_call(point.write)):
            stand_in = replace(point, position=position)
            if stand_in in there:
                found[point] = Equivalence(point, stand_in, reason)
                continue
        if point.position in _EVERYWHERE:
            continue
        if point.position is Position.THROTTLED and not _is_call(point.write):
            key: tuple[object, ...] = (point.position, point.write.verb, point.write.kind, point.write.subresource)
            reason = RETRIED
        else:
            key = (point.position, point.write, states[point.scenario][point.write])
            reason = SAME_STATE
        stand_in = first.setdefault(key, point)
        if stand_in is not point:
            found[point] = Equivalence(point, stand_in, reason)
    return {point: replace(entry, same=_last(entry, found)) for point, entry in found.items()}


def _last(entry: Equivalence, found: Mapping[Point, Equivalence]) -> Point:
    """The point that is run: one that stands for another may have been left out for a third."""
    while entry.same in found:
        entry = found[entry.same]
    return entry.same


def _is_call(write: WriteSelector) -> bool:
    """A call to Ray, whose errors KubeRay tells apart by their status."""
    return write.kind == "RayJobs"


def _states(learned: Learned) -> dict[WriteSelector, tuple[str, ...]]:
    """The changes of the RayJob before each write."""
    states: dict[WriteSelector, tuple[str, ...]] = {}
    changes: tuple[str, ...] = ()
    for write in learned.writes:
        states[write] = changes
        if write.kind in ("RayJob", "RayJobs"):
            changes = (*changes, str(write))
    return states
