"""Each policy with a stack that breaks it and one that keeps it, through the evaluation itself."""

from __future__ import annotations

import pytest

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import evaluate

from .twins import TWINS, Twins


@pytest.mark.parametrize("twins", TWINS, ids=str)
def test_the_bad_twin_breaks_the_policy(twins: Twins) -> None:
    report = evaluate(twins.bad, twins.resolved(), [POLICIES[twins.policy]])
    assert twins.path in [finding.path for finding in report.findings]


@pytest.mark.parametrize("twins", [twins for twins in TWINS if twins.good], ids=str)
def test_the_good_twin_keeps_the_policy(twins: Twins) -> None:
    report = evaluate(twins.good, twins.resolved(), [POLICIES[twins.policy]])
    assert [finding.message for finding in report.findings] == []


def test_every_policy_has_both_twins() -> None:
    assert {twins.policy for twins in TWINS} == set(POLICIES)
    assert {twins.policy for twins in TWINS if twins.good} == set(POLICIES)
