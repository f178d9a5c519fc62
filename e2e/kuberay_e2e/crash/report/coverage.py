"""Which pairs of write and position were run, and why others were not."""

from collections.abc import Mapping
from dataclasses import dataclass

from kuberay_e2e.crash.report.matrix import Mark
from kuberay_e2e.crash.report.summary import Group


@dataclass(frozen=True)
class Coverage:
    """The pairs of a scenario, those with variants apart.

    Attributes:
        writes: Writes that are the same in each run without a fault.
        pairs: All pairs of the positions of the plan.
        judged: Pairs with a run that could be judged.
        equivalent: Pairs left out, as they are the same as another.
        impossible: Pairs that cannot exist.
        error: Pairs whose run could not be judged.
        not_run: Pairs that are still to be run.
        variants: Runs with variants.
        reasons: Why pairs were left out, and how many for each reason.
    """

    writes: int
    pairs: int
    judged: int
    equivalent: int
    impossible: int
    error: int
    not_run: int
    variants: int
    reasons: Mapping[str, int]


def coverage(group: Group) -> Coverage:
    """Count the pairs of a scenario."""
    matrix = group.matrix
    marks = [
        cell.mark
        for row in matrix.rows
        for column, cell in zip(matrix.columns, row.cells, strict=True)
        if "+" not in column
    ]
    return Coverage(
        len(group.learned.writes),
        len(marks),
        sum(mark in (Mark.HELD, Mark.DEVIATES, Mark.VIOLATED) for mark in marks),
        marks.count(Mark.EQUIVALENT),
        marks.count(Mark.IMPOSSIBLE),
        marks.count(Mark.ERROR),
        marks.count(Mark.NOT_RUN),
        sum("+" in run.column for run in group.runs),
        matrix.reasons(),
    )


def sentence(figures: list[Coverage]) -> str:
    """All scenarios together, in a sentence."""
    names = ("pairs", "judged", "equivalent", "impossible", "error", "not_run", "variants")
    total = {name: sum(getattr(one, name) for one in figures) for name in names}
    parts = [
        f"{total['judged']} of {total['pairs']} judged",
        f"{total['equivalent']} equivalent to another",
        f"{total['impossible']} impossible",
    ]
    parts += [f"{total['error']} without a verdict"] if total["error"] else []
    parts += [f"{total['not_run']} not run"] if total["not_run"] else []
    parts += [f"{total['variants']} with variants besides"] if total["variants"] else []
    return ", ".join(parts)
