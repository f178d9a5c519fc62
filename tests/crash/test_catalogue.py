"""Each scenario is a RayJob that KubeRay accepts, small and quick."""

import pytest

from kuberay_e2e.crash.catalogue import SCENARIOS
from kuberay_e2e.crash.manifest import merged, rayjob
from kuberay_e2e.crash.scenario import Act, Scenario
from kuberay_model import rules
from kuberay_model.states import JobDeploymentStatus, JobStatus, Reason


@pytest.fixture(params=SCENARIOS, ids=lambda scenario: scenario.name)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    found: Scenario = request.param
    return found


def test_kuberay_accepts_its_rayjob(scenario: Scenario) -> None:
    assert rules.refusal(rayjob(scenario, "ns")) is None


def test_it_expects_values_that_kuberay_has(scenario: Scenario) -> None:
    expected = scenario.expected
    assert JobStatus(expected.job_status).value == expected.job_status
    assert JobDeploymentStatus(expected.deployment_status).value == expected.deployment_status
    assert Reason(expected.reason).value == expected.reason
    assert expected.succeeded + expected.failed <= expected.attempts


def test_what_its_user_resumes_was_suspended(scenario: Scenario) -> None:
    acts = [action.act for action in scenario.actions]
    suspended = bool(scenario.spec.get("suspend")) + acts.count(Act.SUSPEND)
    assert acts.count(Act.RESUME) == suspended


def test_the_cleanup_of_every_kind_is_there() -> None:
    kinds = {field for scenario in SCENARIOS for field, ttl in vars(scenario.cleanup).items() if ttl is not None}
    assert kinds == {"workers", "cluster", "rayjob"}


def test_every_submission_mode_is_there() -> None:
    assert {scenario.mode for scenario in SCENARIOS} == {"K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode"}


def test_mappings_are_laid_over_each_other_and_none_takes_away() -> None:
    below = {"a": {"b": 1, "c": 2}, "d": [1]}
    assert merged(below, {"a": {"b": None, "e": 3}, "d": [2], "f": 4}) == {"a": {"c": 2, "e": 3}, "d": [2], "f": 4}
    assert below == {"a": {"b": 1, "c": 2}, "d": [1]}
