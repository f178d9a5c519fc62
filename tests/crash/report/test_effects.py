"""How often the entrypoint ran, over the runs of a cell."""

import pytest

from kuberay_e2e.crash.report.effects import Effects, Guarantee, guarantee, of_findings, of_ledger
from kuberay_e2e.ray import Ledger, RayClusterKey, Start
from kuberay_e2e.ray.ledger import AnyEntry, End
from tests.crash.report.sweeps import STARTS, findings

ONCE = Effects(1, 1, more=False, fewer=False)
TWICE = Effects(2, 1, more=True, fewer=False)
NEVER = Effects(0, 1, more=False, fewer=True)


def ledger(*started: str) -> tuple[AnyEntry, ...]:
    kept = Ledger()
    for submission_id in started:
        kept.record(RayClusterKey("n", "c"), submission_id, Start("python main.py"))
        kept.record(RayClusterKey("n", "c"), submission_id, End("SUCCEEDED", 0))
    return kept.entries


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ([ONCE, ONCE], Guarantee.EXACTLY_ONCE),
        ([ONCE, TWICE], Guarantee.AT_LEAST_ONCE),
        ([NEVER, ONCE], Guarantee.AT_MOST_ONCE),
        ([NEVER, TWICE], Guarantee.NEITHER),
        ([], Guarantee.UNKNOWN),
    ],
)
def test_runs_of_a_cell_are_taken_together(effects: list[Effects], expected: Guarantee) -> None:
    assert guarantee(effects) is expected


def test_each_attempt_is_counted_by_itself() -> None:
    assert of_ledger(ledger("a", "b"), 2) == Effects(2, 2, more=False, fewer=False)
    doubled_and_lost = of_ledger(ledger("a", "a"), 2)
    assert doubled_and_lost == Effects(2, 2, more=True, fewer=True)
    assert guarantee([doubled_and_lost]) is Guarantee.NEITHER


def test_an_attempt_too_many_is_more_than_once() -> None:
    assert of_ledger(ledger("a", "b"), 1).more


def test_a_start_less_is_no_loss_where_the_user_deleted_the_rayjob() -> None:
    assert of_ledger((), 1).fewer
    assert not of_ledger((), 1, may_be_fewer=True).fewer
    assert of_ledger(ledger("a", "a"), 1, may_be_fewer=True).more


def test_without_a_ledger_the_oracle_is_asked() -> None:
    assert of_findings(findings(starts=1), 1) == ONCE
    assert of_findings(findings({STARTS: "2"}), 1) == TWICE
    assert of_findings(findings({STARTS: "0"}), 1) == NEVER
    assert of_findings((), 1) is None
