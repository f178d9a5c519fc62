"""The plan: every write of every scenario at every position, what goes with a kill, and what is left out."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from kuberay_e2e.crash.equivalence import Equivalence, equivalents, states
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.crash.timers import timers
from kuberay_e2e.gateway import Position, WriteSelector
from kuberay_e2e.gateway.rayroute import LOOK

KILLS = (Position.BEFORE, Position.COMMITTED, Position.LOST, Position.AFTER)
"""Positions at which the operator is killed or hears nothing."""

ERRORS = (Position.CONFLICT, Position.THROTTLED, Position.FAILED, Position.TIMEOUT, Position.STALE)
"""Positions at which the operator lives and is answered or informed wrongly."""

LOOKS = (Position.LOST, Position.FAILED, Position.TIMEOUT)
"""Positions of a look at a job, which changes nothing, so that only its answer can matter."""

_RELEASE = "-ray.io/rayjob-finalizer"

_TURNS = (
    "create:RayCluster",
    "create:Job",
    "submit:RayJobs",
    "update:RayJob/status:jobDeploymentStatus=Running",
    "update:RayJob/status:jobDeploymentStatus=Waiting",
    "update:RayJob/status:jobDeploymentStatus=Suspending",
    "update:RayJob/status:jobDeploymentStatus=Retrying",
    "update:RayJob/status:jobDeploymentStatus=Complete",
    "update:RayJob/status:jobDeploymentStatus=Failed",
    "delete:RayCluster",
)
"""Writes after which a RayJob is in another state: where a variant is run that is not run everywhere."""

_TAKEOVERS = ("create:RayCluster", "create:Job", "submit:RayJobs")
"""Writes at which a standby takes over, which takes a quarter of a minute each."""


@dataclass(frozen=True)
class Subject:
    """A scenario with what is known of its writes.

    Attributes:
        scenario: The scenario.
        learned: Its writes.
        before: Its writes with the release that an upgrade begins with; None where that release does not come to
            the scenario's end.
    """

    scenario: Scenario
    learned: Learned
    before: Learned | None = None


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Attributes:
        points: The runs.
        equivalent: What is left out, and why.
    """

    points: tuple[Point, ...]
    equivalent: tuple[Equivalence, ...] = ()


def plan(subjects: Sequence[Subject], positions: Sequence[Position] = (), *, everything: bool = False) -> Plan:
    """Plan the runs of scenarios.

    Every write is run with a kill after it was stored, and at every other position where `equivalence` gives no reason
    to leave it out. A kill is run with what may go with it: the operator stays away across each timer; and at the
    writes after which a RayJob is in another state it is killed again, the RayJob is deleted meanwhile, a standby takes
    over, or the next release comes back. Such a variant of the same write in the same submission mode is run in the
    first scenario only.

    Args:
        subjects: The scenarios.
        positions: Only these positions, without variants; default: all, with variants.
        everything: Run what is equivalent too, and every variant at every write.
    """
    points = [point for subject in subjects for point in single(subject.learned, positions or (*KILLS, *ERRORS))]
    stored = {subject.scenario.name: states(subject.scenario.mode, subject.learned) for subject in subjects}
    left_out = {} if everything else equivalents(points, stored)
    kept = [point for point in points if point not in left_out]
    if not positions:
        kept += [point for subject in subjects for point in looks(subject.scenario)]
        kept += _distinct(subjects, everything=everything)
    return Plan(tuple(kept), tuple(left_out.values()))


def single(learned: Learned, positions: Sequence[Position]) -> list[Point]:
    """Every write of a scenario at each of these positions, where there can be such a point."""
    points = [Point(learned.scenario, write, position) for write in learned.writes for position in positions]
    return [point for point in points if not impossible(point)]


def looks(scenario: Scenario) -> list[Point]:
    """The looks at the job of a scenario, each at the positions that can matter."""
    selectors = [WriteSelector(LOOK, "RayJobs", occurrence=number) for number in range(1, scenario.looks + 1)]
    return [Point(scenario.name, look, position) for look in selectors for position in LOOKS]


def impossible(point: Point) -> str:
    """Why a point cannot exist; empty where it can."""
    assert point.write is not None
    to_ray = point.write.kind == "RayJobs"
    if point.position is Position.CONFLICT and (to_ray or point.write.verb not in ("update", "patch")):
        return "only a change of an object can be answered with a conflict"
    if point.position is Position.STALE and to_ray:
        return "calls to Ray have no cache"
    return ""


def upgrading(subjects: Sequence[Subject], *, everything: bool = False) -> list[str]:
    """Names of the scenarios whose writes with the release before an upgrade have to be known for a plan."""
    supposed = [replace(subject, before=subject.learned) for subject in subjects]
    points = _distinct(supposed, everything=everything)
    return list(dict.fromkeys(point.scenario for point in points if point.upgrade))


def shard(points: Sequence[Point], part: int, of: int) -> tuple[Point, ...]:
    """One of several equal parts of a plan.

    Args:
        points: The plan.
        part: Which, from 1.
        of: How many there are.
    """
    return tuple(points[part - 1 :: of])


@dataclass(frozen=True)
class _Variant:
    """Something that may go with a kill.

    Attributes:
        added: The point with it.
        turns: The writes at which it is run unless everything is.
        possible: Whether it can be at a write.
    """

    added: Callable[[Point], Point]
    turns: Collection[str]
    possible: Callable[[Subject, WriteSelector], bool]


def _releases(write: WriteSelector) -> bool:
    """The last write of a RayJob, which has been deleted then, and whose operator writes nothing more."""
    return _RELEASE in write.change


_VARIANTS = (
    _Variant(lambda point: replace(point, again=True), _TURNS, lambda _, write: not _releases(write)),
    _Variant(
        lambda point: replace(point, delete=True),
        _TURNS,
        lambda _, write: not _releases(write) and (write.verb, write.kind) != ("delete", "RayJob"),
    ),
    _Variant(lambda point: replace(point, failover=True), _TAKEOVERS, lambda _, __: True),
    _Variant(
        lambda point: replace(point, upgrade=True),
        _TURNS,
        lambda subject, write: subject.before is not None and write in subject.before.writes,
    ),
)


def _variants(subjects: Sequence[Subject], *, everything: bool) -> Iterator[Point]:
    for subject in subjects:
        for timer in timers(subject.scenario):
            first = next((write for write in subject.learned.writes if timer.begun_by(write)), None)
            if first is not None:
                yield Point(subject.scenario.name, first, Position.COMMITTED, down=timer.away)
    for subject in subjects:
        for write in subject.learned.writes:
            killed = Point(subject.scenario.name, write, Position.COMMITTED)
            for variant in _VARIANTS:
                if variant.possible(subject, write) and (everything or _is_one_of(write, variant.turns)):
                    yield variant.added(killed)


def _is_one_of(write: WriteSelector, turns: Collection[str]) -> bool:
    bare = replace(write, name="", change=write.change.partition(",")[0])
    return write.occurrence == 1 and str(bare).removesuffix("#1") in turns


def _distinct(subjects: Sequence[Subject], *, everything: bool) -> list[Point]:
    """The variants, without those that an earlier scenario of the same mode runs; timers are each scenario's own."""
    modes = {subject.scenario.name: subject.scenario.mode for subject in subjects}
    found: dict[tuple[str, str], Point] = {}
    for point in _variants(subjects, everything=everything):
        place = point.scenario if everything or point.down else modes[point.scenario]
        found.setdefault((place, str(point).partition("/")[2]), point)
    return list(found.values())
