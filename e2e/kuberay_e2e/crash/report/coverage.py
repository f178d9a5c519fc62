"""Which pairs of write and position were run, and why others were not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

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
        variants: Points with variants that were to be run.
        variants_judged: Those of them with a run that could be judged.
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
    variants_judged: int
    reasons: Mapping[str, int]


_JUDGED = (Mark.HELD, Mark.DEVIATES, Mark.VIOLATED)


def coverage(group: Group) -> Coverage:
    """Count the pairs of a scenario."""
    cells = [
        ("+" in column, cell.mark)
        for row in group.matrix.rows
        for column, cell in zip(group.matrix.columns, row.cells, strict=True)
        if cell.mark is not Mark.NOT_PLANNED
    ]
    marks = [mark for variant, mark in cells if not variant]
    variants = [mark for variant, mark in cells if variant]
    return Coverage(
        len(group.learned.writes),
        len(marks),
        sum(mark in _JUDGED for mark in marks),
        marks.count(Mark.EQUIVALENT),
        marks.count(Mark.IMPOSSIBLE),
        marks.count(Mark.ERROR),
        marks.count(Mark.NOT_RUN),
        len(variants),
        sum(mark in _JUDGED for mark in variants),
        group.matrix.reasons(),
    )


def sentence(figures: Sequence[Coverage]) -> str:
    """All scenarios together, in a sentence."""
    names = [field.name for field in fields(Coverage) if field.name != "reasons"]
    total = {name: sum(getattr(one, name) for one in figures) for name in names}
    parts = [
        f"{total['judged']} of {total['pairs']} judged",
        f"{total['equivalent']} equivalent to another",
        f"{total['impossible']} impossible",
    ]
    parts += [f"{total['error']} without a verdict"] if total["error"] else []
    parts += [f"{total['not_run']} not run"] if total["not_run"] else []
    variants = f"; {total['variants_judged']} of {total['variants']} with variants judged" if total["variants"] else ""
    return ", ".join(parts) + variants


def reasons(figures: Sequence[Coverage]) -> Mapping[str, int]:
    """Why pairs of all scenarios were left out, and how many for each reason, the most frequent first."""
    total = Counter[str]()
    for one in figures:
        total.update(one.reasons)
    return dict(total.most_common())
