"""The proof that a sweep can fail: runs with a wrong operator, each of which an oracle has to notice.

The operator is the released one. It is made wrong by what the gateway does to its calls, see `gateway.mutants`.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from kuberay_e2e.crash import point as points
from kuberay_e2e.crash.difference import EndState, facts_of
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.mutants import MUTANTS, Mutant
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.sweep import Outcome, Sweep

_LEAST_PATIENCE = 15.0

CONTROLS = 2
"""Runs of each scenario without a mutant, whose common end state the others are compared with."""


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    """Every oracle that has to notice it did."""
    SURVIVED = "survived"
    """An oracle that has to notice it did not."""
    IDLE = "did not act"
    """The call that it waits for was never made, so that nothing was tested."""
    ERROR = "error"
    """The run failed, and there was nothing to judge."""


@dataclass(frozen=True)
class Row:
    """A line of the kill table.

    Attributes:
        mutant: The mutant.
        fate: What became of it.
        broken: The promises that were found broken.
        seconds: How long the run took.
        error: Why the run failed; empty where it did not.
    """

    mutant: Mutant
    fate: Fate
    broken: tuple[str, ...]
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class KillTable:
    """All mutants, and the runs without one that they are compared with.

    Attributes:
        rows: The mutants.
        controls: The runs without a mutant, one of each scenario; they have to hold.
        seconds: How long everything took.
    """

    rows: tuple[Row, ...]
    controls: tuple[Outcome, ...]
    seconds: float

    @property
    def complete(self) -> bool:
        """True where every mutant was killed and every control held."""
        return all(row.fate is Fate.KILLED for row in self.rows) and all(one.held for one in self.controls)

    def markdown(self) -> str:
        """The table for people."""
        lines = ["| mutant | scenario | caught by | expected | seconds |", "|---|---|---|---|---|"]
        for row in self.rows:
            caught = ", ".join(row.broken) or "nothing"
            if row.fate is not Fate.KILLED:
                caught = f"**{row.fate}**: {row.error or caught}"
            expected = ", ".join(row.mutant.caught_by)
            lines.append(f"| {row.mutant.name} | {row.mutant.point} | {caught} | {expected} | {row.seconds:.0f} |")
        killed = sum(row.fate is Fate.KILLED for row in self.rows)
        held = sum(one.held for one in self.controls)
        lines += [
            "",
            f"{killed} of {len(self.rows)} mutants killed, {held} of {len(self.controls)} runs without one held",
        ]
        return "\n".join(lines) + f", in {self.seconds:.0f} s.\n"


def kill_table(
    sweep: Sweep,
    mutants: Sequence[Mutant] = MUTANTS,
    *,
    workers: int = 4,
    told: Callable[[str], None] = lambda _: None,
) -> KillTable:
    """Run every scenario of the mutants without one, and then every mutant once.

    Args:
        sweep: Runs them.
        mutants: The mutants; default: all.
        workers: How many runs at a time.
        told: Receives a sentence after each run.
    """
    started = time.monotonic()
    scenarios = dict.fromkeys(points.parse(mutant.point).scenario for mutant in mutants)
    controls = sweep.all(
        [Point(name) for name in scenarios for _ in range(CONTROLS)],
        workers=workers,
        ended=lambda outcome: told(f"{outcome.point} without a mutant: {_words(outcome)}"),
    )
    sweep.ends.update({name: _end(controls, name) for name in scenarios})

    def one(mutant: Mutant) -> Row:
        mutation = mutant.make()
        point = points.parse(mutant.point)
        outcome = sweep.run(point, tamper=mutation, patience=patience(controls, point.scenario))
        row = judged(mutant, outcome, mutation.acted)
        told(f"{mutant.name} {row.fate}: {_words(outcome)}")
        return row

    with ThreadPoolExecutor(workers, thread_name_prefix="mutants") as pool:
        rows = tuple(pool.map(one, mutants))
    return KillTable(rows, tuple(controls), time.monotonic() - started)


def judged(mutant: Mutant, outcome: Outcome, acted: int) -> Row:
    """What became of a mutant.

    Args:
        mutant: The mutant.
        outcome: The run in which it was.
        acted: How often it acted.
    """
    broken = tuple(finding.promise for finding in outcome.broken)
    if outcome.error:
        fate = Fate.ERROR
    elif not acted:
        fate = Fate.IDLE
    else:
        fate = Fate.KILLED if set(mutant.caught_by) <= set(broken) else Fate.SURVIVED
    return Row(mutant, fate, broken, outcome.seconds, outcome.error)


def patience(controls: Sequence[Outcome], scenario: str) -> float:
    """Seconds that a scenario gets with a mutant, by what it took without one: what is stuck by then is not waited for.

    Args:
        controls: The runs without a mutant.
        scenario: Name of the scenario.
    """
    taken = (one.spans.get("goal", 0.0) for one in _recorded(controls, scenario))
    return _LEAST_PATIENCE + 2 * max(taken, default=0.0)


def undisturbed(sweep: Sweep, scenario: str = "k8sjob", *, runs: int = 30, workers: int = 4) -> list[Outcome]:
    """Run a scenario without a fault many times: none of the runs may have a broken promise.

    Args:
        sweep: Runs it.
        scenario: Its name.
        runs: How often.
        workers: How many runs at a time.
    """
    return sweep.all([Point(scenario)] * runs, workers=workers)


def _end(controls: Sequence[Outcome], scenario: str) -> EndState:
    return EndState.common([facts_of(one.events) for one in _recorded(controls, scenario)])


def _recorded(controls: Sequence[Outcome], scenario: str) -> list[Recorded]:
    return [one.recorded for one in controls if one.point.scenario == scenario and one.recorded is not None]


def _words(outcome: Outcome) -> str:
    return outcome.error or "; ".join(f"{finding.promise}: {finding.seen}" for finding in outcome.broken) or "it held"
