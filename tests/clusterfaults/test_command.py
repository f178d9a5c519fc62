"""`kuberay-e2e faults` tells what it can do, and refuses what it cannot before anything is started."""

import pytest
from typer.testing import CliRunner

from kuberay_e2e.cli import app
from kuberay_e2e.clusterfaults.registry import SCENARIOS
from kuberay_e2e.errors import InputError


def test_list_shows_every_scenario_and_starts_nothing() -> None:
    result = CliRunner().invoke(app, ["faults", "--list"])
    assert result.exit_code == 0, result.output
    for scenario in SCENARIOS:
        assert scenario.name in result.output


def test_a_scenario_that_there_is_not() -> None:
    result = CliRunner().invoke(app, ["faults", "--scenario", "head-pod-killed", "--scenario", "meteor"])
    assert isinstance(result.exception, InputError)
    assert "no scenario 'meteor'" in str(result.exception)


@pytest.mark.parametrize("cluster", ["embedded", "existing"])
def test_a_cluster_whose_nodes_cannot_be_reached(cluster: str) -> None:
    result = CliRunner().invoke(app, ["faults", "--cluster", cluster])
    assert result.exit_code == 2
    assert "'kind'" in result.output
