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

RETRIED = (
    "client-go itself repeats a request that was answered 429, after Retry-After, so that the controller does not "
    "notice (rest/with_retry.go); each kind of write is run once."
)

SAME_STATE = (
    "An earlier scenario or attempt makes the same write, in the same submission mode, after the same change of its "
    "RayJob; a controller acts on what is stored, so that both are recovered from in the same way."
)

State = tuple[str, str]
"""Submission mode, and the change of the RayJob that was stored last."""


def states(mode: str, learned: Learned) -> dict[WriteSelector, State]:
    """What is stored before each write of a scenario, as far as KubeRay's next write depends on it.

    Args:
        mode: Its submission mode.
        learned: Its writes.
    """
    found: dict[WriteSelector, State] = {}
    last = ""
    for write in learned.writes:
        found[write] = (mode, last)
        if write.kind in ("RayJob", "RayJobs"):
            last = str(_any_occurrence(write))
    return found


def equivalents(
    points: Sequence[Point], stored: Mapping[str, Mapping[WriteSelector, State]]
) -> dict[Point, Equivalence]:
    """The points that others of the same plan stand for.

    Every write of every scenario is run with a kill after it was stored. The other positions are run where a write is
    made in a new state.

    Args:
        points: The plan, without variants.
        stored: The `states` of each scenario.
    """
    there = set(points)
    found: dict[Point, Equivalence] = {}
    first: dict[tuple[object, ...], Point] = {}
    for point in points:
        assert point.write is not None
        position, reason = REASONS.get(point.position, (None, ""))
        if position is not None and (position is Position.COMMITTED or not _is_call(point.write)):
            stand_in = replace(point, position=position)
            if stand_in in there:
                found[point] = Equivalence(point, stand_in, reason)
                continue
        if point.position in (Position.COMMITTED, Position.AFTER):
            continue
        if point.position is Position.THROTTLED and not _is_call(point.write):
            key: tuple[object, ...] = (point.position, point.write.verb, point.write.kind, point.write.subresource)
            reason = RETRIED
        else:
            key = (point.position, _any_occurrence(point.write), stored[point.scenario][point.write])
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


def _any_occurrence(write: WriteSelector) -> WriteSelector:
    return replace(write, occurrence=1)
