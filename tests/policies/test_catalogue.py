"""Each policy with a stack that breaks it and one that keeps it, through the evaluation itself."""

from __future__ import annotations

import pytest

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import evaluate
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Subject
from tests.model.rayjobs import Manifest

from .objects import cluster, cluster_queue, crd, cron_job, flavor, job, local_queue, operator, queued, service
from .twins import TWINS, Twins


@pytest.mark.parametrize("twins", [twins for twins in TWINS if twins.bad], ids=str)
def test_the_bad_twin_breaks_the_policy(twins: Twins) -> None:
    report = evaluate(twins.bad, twins.resolved(), [POLICIES[twins.policy]])
    assert twins.path in [finding.path for finding in report.findings]
    for finding in report.findings:
        assert finding.wrong[-1] in ".?" and finding.remedy[-1] in ".?", "a finding is made of sentences"


@pytest.mark.parametrize("twins", [twins for twins in TWINS if twins.good], ids=str)
def test_the_good_twin_keeps_the_policy(twins: Twins) -> None:
    report = evaluate(twins.good, twins.resolved(), [POLICIES[twins.policy]])
    assert [finding.message for finding in report.findings] == []


def test_every_policy_has_both_twins() -> None:
    assert {twins.policy for twins in TWINS if twins.bad} == set(POLICIES)
    assert {twins.policy for twins in TWINS if twins.good} == set(POLICIES)


@pytest.mark.parametrize("manifest", [job(), cluster(), service(), queued(), cron_job(), operator(), crd()], ids=str)
def test_the_exemplary_objects_keep_every_policy(manifest: Manifest) -> None:
    settings = Settings(gate_overrides={"RayCronJob": True}) if manifest["kind"] == "RayCronJob" else Settings()
    report = evaluate([Subject(manifest)], settings)
    assert [str((finding.policy.id, finding.path, finding.message)) for finding in report.findings] == []


def test_an_exemplary_stack_keeps_every_policy() -> None:
    stack = [queued(), local_queue(), cluster_queue(), flavor()]
    report = evaluate([Subject(manifest) for manifest in stack], Settings())
    assert [finding.message for finding in report.findings] == []
