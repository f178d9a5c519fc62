"""The sweep's own proof: an operator that is made wrong is found wrong, and one that is right is left alone."""

from collections.abc import Iterator

import pytest

from kuberay_e2e import state
from kuberay_e2e.crash.mutation import Fate, kill_table, undisturbed
from kuberay_e2e.crash.places import EMBEDDED
from kuberay_e2e.crash.sweep import Sweep

pytestmark = pytest.mark.e2e

RUNS = 6
"""Runs without a fault; `kuberay-e2e crash mutants` makes 30."""


@pytest.fixture(scope="module")
def sweep() -> Iterator[Sweep]:
    state.sweep()
    with state.claim(state.free_name("mutants")) as run, EMBEDDED.open(run) as found:
        yield found


def test_every_mutant_is_noticed_by_its_oracle(sweep: Sweep) -> None:
    table = kill_table(sweep)
    left = {
        row.mutant.name: f"{row.fate}: {row.error or row.broken}" for row in table.rows if row.fate is not Fate.KILLED
    }
    assert left == {}
    assert [(str(one.point), one.error or one.broken) for one in table.controls if not one.held] == []
    assert table.complete


def test_nothing_is_reported_of_runs_without_a_fault(sweep: Sweep) -> None:
    outcomes = undisturbed(sweep, runs=RUNS)
    assert len(outcomes) == RUNS
    assert [one.error or one.broken for one in outcomes if not one.held] == []
