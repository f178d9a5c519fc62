"""When not all runs can be made, those come first that cover most, always in the same order."""

from itertools import product

from kuberay_e2e.crash.coverage import ordered, subset
from kuberay_e2e.crash.point import Point, parse

SCENARIOS = ("k8sjob", "http", "ttl")
WRITES = ("create:Job#1", "create:Pod#1", "delete:RayCluster#1")
POSITIONS = ("before", "committed", "lost")
POINTS = [parse(f"{name}/{write}@{position}") for name, write, position in product(SCENARIOS, WRITES, POSITIONS)]
AWAY = parse("k8sjob/create:Job#1@committed+down=35")


def places(points: tuple[Point, ...]) -> tuple[set[str], set[str], set[str]]:
    return (
        {point.scenario for point in points},
        {str(point.position) for point in points},
        {str(point.write) for point in points},
    )


def test_every_point_comes_once() -> None:
    assert sorted(map(str, ordered(POINTS, 2.0))) == sorted(map(str, POINTS))


def test_scenarios_positions_and_writes_come_first() -> None:
    assert places(ordered(POINTS, 2.0)[:3]) == (set(SCENARIOS), set(POSITIONS), set(WRITES))


def test_the_order_is_the_same_every_time() -> None:
    assert ordered(POINTS, 2.0) == ordered(list(POINTS), 2.0)


def test_known_deviations_come_before_all() -> None:
    last = POINTS[-1]
    assert ordered(POINTS, 2.0, lambda point: ["leak"] if point == last else [])[0] == last


def test_a_long_run_comes_after_short_ones_that_cover_as_much() -> None:
    order = ordered([AWAY, *POINTS], 2.0)
    assert order.index(AWAY) > 2
    assert ordered([AWAY, *POINTS], 2.0, lambda point: ["grace"] if point == AWAY else [])[0] == AWAY


def test_a_subset_takes_no_longer_than_it_may() -> None:
    assert len(subset(POINTS, 20.0, 2.0)) == 10
    assert len(subset(POINTS, 20.0, 2.0, workers=2)) == 20
    assert subset(POINTS, 1.0, 2.0) == ()
    assert subset([AWAY], 36.0, 2.0) == ()
    assert subset([AWAY], 37.0, 2.0) == (AWAY,)
