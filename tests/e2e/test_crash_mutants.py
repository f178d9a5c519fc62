"""The sweep's own proof: an operator that is made wrong is found wrong, and one that is right is left alone."""

from collections.abc import Iterator, Sequence

import pytest

from kuberay_e2e import state
from kuberay_e2e.crash.mutants import MUTANTS, Mutant
from kuberay_e2e.crash.mutation import Fate, kill_table, undisturbed
from kuberay_e2e.crash.places import EMBEDDED
from kuberay_e2e.crash.sweep import Sweep

pytestmark = pytest.mark.e2e

RUNS = 30
"""Runs without a fault, as `kuberay-e2e crash mutants` makes."""

QUICK = (
    "cluster-created-twice",
    "submitter-created-twice",
    "submitted-twice",
    "end-time-rewritten",
    "success-not-counted",
    "ttl-early",
    "stop-swallowed",
    "job-status-backwards",
)
"""Mutants that need no more than what their scenario takes; the others run at night."""


@pytest.fixture(scope="module")
def sweep() -> Iterator[Sweep]:
    state.sweep()
    with state.claim(state.free_name("mutants")) as run, EMBEDDED.open(run) as found:
        yield found


def kill(sweep: Sweep, mutants: Sequence[Mutant]) -> None:
    table = kill_table(sweep, mutants)
    left = {
        row.mutant.name: f"{row.fate}: {row.error or row.broken}" for row in table.rows if row.fate is not Fate.KILLED
    }
    assert left == {}
    assert [(str(one.point), one.error or one.broken) for one in table.controls if not one.held] == []
    assert table.complete


@pytest.mark.nightly
def test_quick_mutants_are_noticed_by_their_oracles(sweep: Sweep) -> None:
    mutants = [mutant for mutant in MUTANTS if mutant.name in QUICK]
    assert len(mutants) == len(QUICK)
    kill(sweep, mutants)


@pytest.mark.nightly
def test_the_other_mutants_are_noticed_by_their_oracles(sweep: Sweep) -> None:
    kill(sweep, [mutant for mutant in MUTANTS if mutant.name not in QUICK])


@pytest.mark.nightly
def test_nothing_is_reported_of_runs_without_a_fault(sweep: Sweep) -> None:
    outcomes = undisturbed(sweep, runs=RUNS)
    assert len(outcomes) == RUNS
    assert [one.error or one.broken for one in outcomes if not one.held] == []
