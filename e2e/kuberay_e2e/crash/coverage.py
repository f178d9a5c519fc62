"""What a few runs cover of a plan: the order in which runs are made when not all of them can be."""

import heapq
from collections.abc import Callable, Collection, Iterator, Sequence

from kuberay_e2e.crash.lives import LEASE_SECONDS
from kuberay_e2e.crash.point import Point

Marks = Callable[[Point], Collection[str]]
"""The known deviations that a point is expected to show, by id."""

_DEVIATION, _SINGLE, _PAIR = 1000.0, 10.0, 1.0


def waiting(point: Point) -> float:
    """Seconds that a run waits beyond an ordinary one."""
    return point.down + (LEASE_SECONDS if point.failover else 0.0)


def ordered(points: Sequence[Point], per_run: float, marks: Marks = lambda _: ()) -> tuple[Point, ...]:
    """The points, those first that add most to what has been covered, for the time that they take.

    Covered are, in this order of worth: each known deviation; each scenario, position, variant and kind of write; and
    each pair of a position or variant with a scenario or a kind of write. The order depends on nothing but the points.

    Args:
        points: The points of a plan.
        per_run: Seconds that an ordinary run takes.
        marks: The known deviations of a point.
    """
    worth = [dict(_features(point, marks)) for point in points]
    cost = [per_run + waiting(point) for point in points]
    covered: set[object] = set()

    def gain(index: int) -> float:
        return sum(value for feature, value in worth[index].items() if feature not in covered) / cost[index]

    heap = [(-gain(index), index) for index in range(len(points))]
    heapq.heapify(heap)
    found = []
    while heap:
        known, index = heapq.heappop(heap)
        if (now := -gain(index)) > known:
            heapq.heappush(heap, (now, index))
            continue
        covered.update(worth[index])
        found.append(points[index])
    return tuple(found)


def subset(
    points: Sequence[Point], seconds: float, per_run: float, marks: Marks = lambda _: (), *, workers: int = 1
) -> tuple[Point, ...]:
    """The points that cover most within a time.

    Args:
        points: The points of a plan.
        seconds: The time.
        per_run: Seconds that an ordinary run takes.
        marks: The known deviations of a point.
        workers: How many runs are made at a time.
    """
    left = seconds * workers
    found = []
    for point in ordered(points, per_run, marks):
        left -= per_run + waiting(point)
        if left < 0:
            break
        found.append(point)
    return tuple(found)


def _features(point: Point, marks: Marks) -> Iterator[tuple[object, float]]:
    for deviation in marks(point):
        yield ("deviation", deviation), _DEVIATION
    write = point.write
    kind = f"{write.verb}:{write.kind}/{write.subresource}" if write else ""
    faults = [str(point.position), *point.variants]
    for single in (("scenario", point.scenario), ("write", kind), *(("fault", fault) for fault in faults)):
        yield single, _SINGLE
    for fault in faults:
        yield ("scenario and fault", point.scenario, fault), _PAIR
        yield ("write and fault", kind, fault), _PAIR
