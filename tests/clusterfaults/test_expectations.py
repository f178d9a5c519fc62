"""What is promised is known for every scenario, by version of the operator."""

import pytest

from kuberay_e2e.clusterfaults import expectations
from kuberay_e2e.clusterfaults.expectations import EXPECTATIONS, ending
from kuberay_e2e.clusterfaults.registry import SCENARIOS, chosen
from kuberay_e2e.clusterfaults.scenario import Group, Scenario
from kuberay_e2e.clusterfaults.workload import Mode
from kuberay_e2e.deviations.catalogue import files, read
from kuberay_e2e.errors import InputError


@pytest.mark.parametrize("version", ["1.5.1", "1.6.2", "1.7.0"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
def test_every_scenario_has_a_promise_with_its_source(scenario: Scenario, version: str) -> None:
    found = expectations.of(version, scenario.name, scenario.mode)
    assert found.sentence.endswith(".")
    assert found.source


def test_every_promise_belongs_to_a_scenario() -> None:
    assert {(entry.scenario, entry.mode) for entry in EXPECTATIONS} == {(item.name, item.mode) for item in SCENARIOS}


def test_a_version_that_is_too_old_is_refused() -> None:
    with pytest.raises(InputError, match=r"KubeRay 1\.4\.2"):
        expectations.of("1.4.2", "head-pod-killed", Mode.HTTP)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
def test_no_scenario_waits_for_ever(scenario: Scenario) -> None:
    assert scenario.doc.endswith(".")
    assert scenario.load.seconds < scenario.load.deadline <= 600
    assert scenario.patience <= 180


def test_faults_that_reach_beyond_a_namespace_do_not_run_beside_others() -> None:
    side_by_side = {scenario.name for scenario in SCENARIOS if scenario.group is Group.NAMESPACE}
    assert not side_by_side & {"leader-killed", "api-server-killed", "operator-scaled-to-zero"}


def test_scenarios_are_chosen_by_name_and_by_name_with_mode() -> None:
    assert chosen(()) == SCENARIOS
    assert {item.mode for item in chosen(("head-pod-killed",))} == set(Mode)
    [only] = chosen(("head-pod-killed[HTTPMode]",))
    assert only.mode is Mode.HTTP
    with pytest.raises(InputError, match=r"no scenario 'head-pod'; there are head-pod-killed, head-pod-killed-sub"):
        chosen(("head-pod",))


@pytest.mark.parametrize("path", [path for path in files() if path.name.startswith("kuberay-")], ids=lambda p: p.name)
def test_every_deviation_of_kuberay_names_a_scenario_and_its_mode(path: object) -> None:
    known = {(scenario.name, scenario.mode.value) for scenario in SCENARIOS}
    for entry in read(path):  # type: ignore[arg-type]
        assert (entry.scenario, entry.mode) in known


@pytest.mark.parametrize(
    ("status", "phrase"),
    [
        (("Complete", "SUCCEEDED", ""), "Complete SUCCEEDED"),
        (("Complete", "STOPPED", ""), "Complete STOPPED"),
        (("Failed", "RUNNING", "SubmissionFailed"), "Failed SubmissionFailed"),
    ],
)
def test_an_end_is_one_phrase(status: tuple[str, str, str], phrase: str) -> None:
    assert ending(*status) == phrase
