"""The runs of a sweep with their verdicts, grouped by scenario and version of the operator."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash.report import effects
from kuberay_e2e.crash.report.effects import Effects
from kuberay_e2e.crash.report.evidence import read_ledger
from kuberay_e2e.crash.store import Result, file_name
from kuberay_e2e.crash.verdict import verdict
from kuberay_e2e.deviations import Deviations
from kuberay_e2e.verdicts import State, Verdict

KnownDeviations = Callable[[str], Deviations]
"""Gives the known deviations of a version of the operator."""


@dataclass(frozen=True)
class Run:
    """A run as the report tells it.

    Attributes:
        number: The order in which the runs ended, from 1.
        anchor: Its name in the page.
        result: What was kept of it.
        verdict: How it is judged.
        effects: How often its entrypoint ran; None where that is not known.
        run_seconds: Seconds of all runs up to its end, its own among them.
    """

    number: int
    anchor: str
    result: Result
    verdict: Verdict
    effects: Effects | None
    run_seconds: float

    @property
    def column(self) -> str:
        """Position and variants, as the point writes them; empty for a run without a fault."""
        return column_of(str(self.result.point)) if self.result.point.write else ""

    @property
    def fault(self) -> str:
        """Position and variants without their seconds; empty for a run without a fault."""
        point = self.result.point
        return "+".join((point.position, *point.variants)) if point.write else ""

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        broken = "; ".join(f"{finding.promise}: {finding.seen}" for finding in self.result.broken)
        match self.verdict.state:
            case State.HELD:
                return f"All {len(self.result.findings)} promises were kept."
            case State.DEVIATES:
                return f"Deviates as known ({', '.join(self.verdict.deviation)}): {broken}."
            case _:
                return self.verdict.seen


def column_of(point: str) -> str:
    """Position and variants of a point that has a write."""
    return point.rpartition("@")[2]


def judged(results: Sequence[Result], folder: Path, known: KnownDeviations) -> list[Run]:
    """Judge results by the deviations that are known, in the order in which they came.

    Args:
        results: The results.
        folder: The sweep's folder, which holds the ledgers of the runs.
        known: The known deviations of a version.
    """
    deviations = {version: known(version) for version in sorted({result.version for result in results})}
    several = len(deviations) > 1
    runs: list[Run] = []
    anchors: set[str] = set()
    seconds = 0.0
    for number, result in enumerate(results, 1):
        seconds += result.seconds
        anchor = file_name(result.point) + (f"_{result.version}" if several else "")
        anchor = anchor if anchor not in anchors else f"{anchor}_{number}"
        anchors.add(anchor)
        told = _verdict(result, deviations[result.version])
        runs.append(Run(number, anchor, result, told, _effects(result, folder), seconds))
    return runs


def in_state(runs: Iterable[Run], *states: State) -> list[Run]:
    """The runs that came out so."""
    return [run for run in runs if run.verdict.state in states]


def _verdict(result: Result, known: Deviations) -> Verdict:
    if result.point.scenario not in catalogue.BY_NAME:
        why = f"There is no scenario called {result.point.scenario!r} any more, so that the run cannot be judged."
        return Verdict(str(result.point), State.ERROR, result.seconds, "", why, findings=result.findings)
    return verdict(result, known)


def _effects(result: Result, folder: Path) -> Effects | None:
    scenario = catalogue.BY_NAME.get(result.point.scenario)
    if scenario is None or result.error:
        return None
    expected = scenario.expected.starts
    ledger = read_ledger(folder / result.folder) if result.folder else None
    if ledger is None:
        return effects.of_findings(result.findings, expected, may_be_fewer=result.point.delete)
    return effects.of_ledger(ledger, expected, may_be_fewer=result.point.delete)
