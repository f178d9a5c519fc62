"""What was to be run: the plan that a sweep's folder and its runs let conclude."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kuberay_e2e.crash import catalogue, planning
from kuberay_e2e.crash.equivalence import Equivalence
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.planning import Subject
from kuberay_e2e.crash.point import Point
from kuberay_e2e.gateway import Position


@dataclass(frozen=True)
class Planned:
    """What was to be run of all scenarios.

    Attributes:
        positions: The positions, in their order.
        points: The points, by their text.
        left_out: What stands for a point that is left out, by its text.
    """

    positions: tuple[Position, ...]
    points: frozenset[str]
    left_out: Mapping[str, Equivalence]


def planned(learned: Mapping[str, Learned], before: Mapping[str, Learned], run: Sequence[Point]) -> Planned:
    """Conclude what was to be run.

    Where nothing was run with a variant, or at a position at which the operator lives and is answered wrongly, the
    kills alone were asked for; else everything.

    Args:
        learned: The writes of the scenarios, in the order of the plan.
        before: Their writes with the release that an upgrade begins with.
        run: What was run.
    """
    disturbed = [point for point in run if point.write]
    whole = any(point.variants or point.position in planning.ERRORS for point in disturbed)
    positions = [position for position in Position if whole or position in planning.KILLS]
    subjects = [
        Subject(scenario, entry, entry_before if (entry_before := before.get(name)) and entry_before.writes else None)
        for name, entry in learned.items()
        if (scenario := catalogue.BY_NAME.get(name)) is not None
    ]
    plan = planning.plan(subjects, () if whole else positions)
    return Planned(
        tuple(positions),
        frozenset(map(str, plan.points)),
        {str(entry.point): entry for entry in plan.equivalent},
    )
