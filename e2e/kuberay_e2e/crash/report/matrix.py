"""The matrix of a scenario: its writes by positions, and which of the pairs were run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kuberay_e2e.crash import planning
from kuberay_e2e.crash.equivalence import equivalents
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.report.runs import Run
from kuberay_e2e.gateway import Position, WriteSelector
from kuberay_e2e.verdicts import State


class Mark(StrEnum):
    """What there is to say of a pair of write and position."""

    HELD = "held"
    DEVIATES = "deviates"
    VIOLATED = "violated"
    ERROR = "error"
    EQUIVALENT = "equivalent"
    IMPOSSIBLE = "impossible"
    NOT_RUN = "not run"
    NOT_PLANNED = "not planned"


@dataclass(frozen=True)
class Cell:
    """A pair of write and position.

    Attributes:
        mark: What there is to say of it.
        run: The run that says it; of an equivalent pair, that of the pair it is equivalent to.
        why: Why there is no run of its own.
    """

    mark: Mark
    run: Run | None = None
    why: str = ""


@dataclass(frozen=True)
class Row:
    """A write.

    Attributes:
        write: The write.
        stable: Whether every run without a fault made it.
        cells: One for each column.
    """

    write: WriteSelector
    stable: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Matrix:
    """The matrix of a scenario.

    Attributes:
        columns: Positions, then positions with variants, as points write them.
        rows: The writes in the order of a run without a fault, then those that only disturbed runs made.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def counts(self) -> Mapping[Mark, int]:
        """How many pairs there are of each mark."""
        return Counter(cell.mark for row in self.rows for cell in row.cells)

    def reasons(self) -> Mapping[str, int]:
        """Why pairs have no run of their own, and how many for each reason."""
        found = Counter(cell.why for row in self.rows for cell in row.cells if cell.why)
        return dict(sorted(found.items()))


def matrix(learned: Learned, runs: Sequence[Run]) -> Matrix:
    """Lay out the runs of a scenario.

    The positions are those of the default plan, and all others at which something was run.

    Args:
        learned: The writes of its runs without a fault.
        runs: Its runs.
    """
    disturbed = {str(run.result.point): run for run in runs if run.result.point.write}
    seen = {run.result.point.position for run in disturbed.values()}
    positions = [position for position in Position if position in seen or position in planning.KILLS]
    points = planning.single(learned, positions)
    left_out = equivalents(points, {learned.scenario: learned})
    same = {str(point): str(entry.same) for point, entry in left_out.items()}
    variants = sorted({run.column for run in disturbed.values()} - set(positions))
    columns = (*map(str, positions), *variants)
    writes = dict.fromkeys(
        (*learned.writes, *(run.result.point.write for run in disturbed.values() if run.result.point.write))
    )
    rows = []
    for write in writes:
        cells = [_cell(learned.scenario, write, column, disturbed, same) for column in columns]
        rows.append(Row(write, write in learned.writes, tuple(cells)))
    return Matrix(columns, tuple(rows))


def _cell(scenario: str, write: WriteSelector, column: str, runs: Mapping[str, Run], same: Mapping[str, str]) -> Cell:
    name = f"{scenario}/{write}@{column}"
    if (run := runs.get(name)) is not None:
        return Cell(_MARKS[run.verdict.state], run)
    if "+" in column:
        return Cell(Mark.NOT_PLANNED)
    if why := planning.impossible(Point(scenario, write, Position(column))):
        return Cell(Mark.IMPOSSIBLE, why=why)
    if (other := same.get(name)) is not None:
        position = other.rpartition("@")[2]
        return Cell(Mark.EQUIVALENT, runs.get(other), f"{column} is equivalent to {position}")
    return Cell(Mark.NOT_RUN)


_MARKS = {
    State.HELD: Mark.HELD,
    State.DEVIATES: Mark.DEVIATES,
    State.VIOLATED: Mark.VIOLATED,
    State.ERROR: Mark.ERROR,
}
