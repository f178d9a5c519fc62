"""The matrix of a scenario: its writes by positions, and which of the pairs were run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import compress

from kuberay_e2e.crash import planning
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.report.planned import Planned
from kuberay_e2e.crash.report.runs import Run, column_of
from kuberay_e2e.gateway import WriteSelector
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
        same: The point that an equivalent one is the same as.
    """

    mark: Mark
    run: Run | None = None
    why: str = ""
    same: str = ""


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


def matrix(learned: Learned, planned: Planned, runs: Mapping[str, Run]) -> Matrix:
    """Lay out the runs of a scenario.

    Args:
        learned: The writes of its runs without a fault.
        planned: What is to be run of all scenarios.
        runs: The runs of all scenarios, by point.
    """
    disturbed = [run for run in runs.values() if run.result.point.scenario == learned.scenario and run.column]
    prefix = f"{learned.scenario}/"
    seen = {
        *(run.column for run in disturbed),
        *(column_of(name) for name in planned.points if name.startswith(prefix)),
    }
    columns = (*map(str, planned.positions), *sorted(seen - set(planned.positions)))
    writes = dict.fromkeys((*learned.writes, *(run.result.point.write for run in disturbed if run.result.point.write)))
    rows = []
    for write in writes:
        stable = write in learned.writes
        names = [f"{prefix}{write}@{column}" for column in columns]
        rows.append(Row(write, stable, tuple(_cell(name, stable, planned, runs) for name in names)))
    return _without_empty_columns(columns, rows)


def _without_empty_columns(columns: Sequence[str], rows: Sequence[Row]) -> Matrix:
    used = [any(row.cells[index].mark is not Mark.NOT_PLANNED for row in rows) for index in range(len(columns))]
    return Matrix(
        tuple(compress(columns, used)),
        tuple(replace(row, cells=tuple(compress(row.cells, used))) for row in rows),
    )


def _cell(name: str, stable: bool, planned: Planned, runs: Mapping[str, Run]) -> Cell:
    if (run := runs.get(name)) is not None:
        return Cell(_MARKS[run.verdict.state], run)
    if (entry := planned.left_out.get(name)) is not None:
        return Cell(Mark.EQUIVALENT, runs.get(str(entry.same)), entry.reason, str(entry.same))
    if name in planned.points:
        return Cell(Mark.NOT_RUN)
    why = planning.impossible(parse(name)) if stable and "+" not in column_of(name) else ""
    return Cell(Mark.IMPOSSIBLE, why=why) if why else Cell(Mark.NOT_PLANNED)


_MARKS = {
    State.HELD: Mark.HELD,
    State.DEVIATES: Mark.DEVIATES,
    State.VIOLATED: Mark.VIOLATED,
    State.ERROR: Mark.ERROR,
}
