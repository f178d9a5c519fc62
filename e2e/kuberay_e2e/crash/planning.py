"""The plan: every write of a scenario at every position, and what is known to be the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import Point
from kuberay_e2e.gateway import Position

KILLS = (Position.BEFORE, Position.COMMITTED, Position.LOST, Position.AFTER)
"""The positions of the default plan."""

ERRORS = (Position.CONFLICT, Position.THROTTLED, Position.FAILED, Position.TIMEOUT, Position.STALE)
"""Further positions, at which the operator lives and is answered or informed wrongly."""


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Attributes:
        points: The runs.
        equivalent: For a point that is left out, the point that is the same.
    """

    points: tuple[Point, ...]
    equivalent: tuple[tuple[Point, Point], ...] = ()


def plan(learned: Learned, positions: Sequence[Position] = KILLS, *, everything: bool = False) -> Plan:
    """Plan the runs of a scenario.

    `after` is equivalent to `committed`: in both the write is stored and the operator, with all that it knew, is gone.
    A conflict is no answer to a creation, and calls to Ray have no cache: those points do not exist.

    Args:
        learned: Its writes.
        positions: The positions.
        everything: Run equivalent points too.
    """
    points: list[Point] = []
    equivalent: list[tuple[Point, Point]] = []
    for write in learned.writes:
        for position in positions:
            point = Point(learned.scenario, write, position)
            if impossible(point):
                continue
            if not everything and position is Position.AFTER and Position.COMMITTED in positions:
                equivalent.append((point, Point(learned.scenario, write, Position.COMMITTED)))
                continue
            points.append(point)
    return Plan(tuple(points), tuple(equivalent))


def impossible(point: Point) -> str:
    """Why a point cannot exist; empty where it can."""
    assert point.write is not None
    to_ray = point.write.kind == "RayJobs"
    if point.position is Position.CONFLICT and (to_ray or point.write.verb not in ("update", "patch")):
        return "only a change of an object can be answered with a conflict"
    if point.position is Position.STALE and to_ray:
        return "calls to Ray have no cache"
    return ""


def shard(points: Sequence[Point], part: int, of: int) -> tuple[Point, ...]:
    """One of several equal parts of a plan.

    Args:
        points: The plan.
        part: Which, from 1.
        of: How many there are.
    """
    return tuple(points[part - 1 :: of])
