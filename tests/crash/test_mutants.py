"""The harness can fail: every oracle has a mutant that it must notice, and a mutant that nobody notices is told of."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kuberay_e2e.crash import catalogue, oracles
from kuberay_e2e.crash import point as points
from kuberay_e2e.crash.difference import EndState, facts_of
from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.mutants import MUTANTS, Mutant
from kuberay_e2e.crash.mutation import Fate, KillTable, Row, judged, kill_table, patience, undisturbed
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.sweep import Outcome, Sweep
from kuberay_e2e.gateway.calls import Tamper
from kuberay_e2e.gateway.mutants import Mutation, twice
from kuberay_e2e.verdicts import Finding
from tests.crash.recorded import good

PROMISE = "counters count attempts"
MUTANT = Mutant("wrong", "Counts wrong.", "http", (PROMISE,), lambda: Mutation(lambda _: False, twice))


def promises() -> set[str]:
    run = good()
    recorded = Recorded(Point("ttl"), "job", tuple(run.trace.events()), run.ledger.entries, "", True, 1.0)
    evidence = Evidence.of(run.scenario, recorded)
    found = [oracle(evidence) for oracle in (*oracles.ORACLES, *oracles.CUT_SHORT)]
    return {finding.promise for finding in [*found, oracles.ends_in_the_same_state(evidence, EndState())]}


def test_every_promise_has_a_mutant_that_breaks_it() -> None:
    assert {promise for mutant in MUTANTS for promise in mutant.caught_by} == promises()


def test_mutants_have_names_of_their_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_acts_in_a_scenario_that_there_is(mutant: Mutant) -> None:
    assert points.parse(mutant.point).scenario in catalogue.BY_NAME
    assert mutant.make().acted == 0
    assert mutant.make() is not mutant.make()


def outcome(point: str = "http", *, broken: Sequence[str] = (), error: str = "", recorded: bool = False) -> Outcome:
    findings = tuple(Finding(promise, False, "wrong") for promise in broken)
    run = good()
    events = tuple(run.trace.events())
    what = Recorded(Point("http"), "job", events, (), "", True, 1.0, {"goal": 9.0}) if recorded else None
    return Outcome(points.parse(point), findings, 12.0, Path(), error, what)


@pytest.mark.parametrize(
    ("found", "acted", "fate"),
    [
        (outcome(broken=[PROMISE, "nothing is left"]), 1, Fate.KILLED),
        (outcome(broken=["nothing is left"]), 1, Fate.SURVIVED),
        (outcome(), 1, Fate.SURVIVED),
        (outcome(broken=[PROMISE]), 0, Fate.IDLE),
        (outcome(error="The API server did not answer."), 1, Fate.ERROR),
    ],
)
def test_the_fate_of_a_mutant(found: Outcome, acted: int, fate: Fate) -> None:
    assert judged(MUTANT, found, acted).fate is fate


def row(fate: Fate = Fate.KILLED) -> Row:
    return Row(MUTANT, fate, (PROMISE,), 12.4)


@pytest.mark.parametrize(
    ("table", "complete"),
    [
        (KillTable((row(),), (outcome(),), 60.0), True),
        (KillTable((row(), row(Fate.IDLE)), (outcome(),), 60.0), False),
        (KillTable((row(),), (outcome(broken=[PROMISE]),), 60.0), False),
    ],
)
def test_a_table_is_complete_when_all_are_killed_and_what_is_right_holds(table: KillTable, complete: bool) -> None:
    assert table.complete is complete


def test_the_table_for_people() -> None:
    text = KillTable((row(), row(Fate.SURVIVED)), (outcome(),), 60.4).markdown()
    assert "| wrong | http | counters count attempts | counters count attempts | 12 |" in text
    assert "| wrong | http | **survived**: counters count attempts | counters count attempts | 12 |" in text
    assert text.endswith("1 of 2 mutants killed, 1 of 1 runs without one held, in 60 s.\n")


class Runs(Sweep):
    """A sweep whose runs are recorded already: without a mutant they hold, with one they miscount."""

    def __init__(self) -> None:
        self.ends = {}
        self.asked: list[tuple[str, bool]] = []

    def run(self, point: Point, tamper: Tamper | None = None, patience: float | None = None) -> Outcome:
        self.asked.append((str(point), patience is not None))
        if isinstance(tamper, Mutation):
            tamper.acted = 1
        return outcome(str(point), broken=[PROMISE] if tamper else [], recorded=True)


def test_each_scenario_runs_without_a_mutant_first_and_gives_the_end_state() -> None:
    sweep, told = Runs(), list[str]()
    table = kill_table(sweep, [MUTANT, MUTANT], workers=1, told=told.append)
    assert sweep.asked == [("http", False), ("http", False), ("http", True), ("http", True)]
    assert [one.fate for one in table.rows] == [Fate.KILLED, Fate.KILLED]
    assert sweep.ends["http"].facts == facts_of(good().trace.events())
    assert (len(table.controls), table.complete, len(told)) == (2, True, 4)
    assert told[-1] == "wrong killed: counters count attempts: wrong"


def test_a_mutant_gets_the_more_time_the_longer_its_scenario_takes_without_it() -> None:
    assert patience([outcome(recorded=True), outcome("k8sjob", recorded=False)], "http") == 33.0
    assert patience([], "http") == 15.0


def test_a_scenario_is_run_undisturbed_as_often_as_asked() -> None:
    sweep = Runs()
    assert all(found.held for found in undisturbed(sweep, runs=6, workers=1))
    assert sweep.asked == [("k8sjob", False)] * 6
