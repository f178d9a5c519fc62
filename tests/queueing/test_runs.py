"""What the command refuses before it starts anything."""

from pathlib import Path

import pytest
from rich.console import Console

from kuberay_e2e.deviations import Deviations
from kuberay_e2e.errors import HarnessError, InputError
from kuberay_e2e.queueing import runs
from kuberay_e2e.queueing.command import ClusterChoice
from kuberay_e2e.queueing.registry import SCENARIOS
from kuberay_e2e.queueing.runner import KUEUE_VERSION
from kuberay_e2e.queueing.scenario import REAL, SIMULATED
from kuberay_e2e.session import OperatorKind
from pulumi_kuberay.kueue_args import DEFAULT_VERSION


def test_a_kill_that_cannot_be_seen_from_outside_the_pod_is_refused(tmp_path: Path) -> None:
    name = "crash-in-suspension/delete:RayCluster@before"
    with pytest.raises(InputError, match=r"can only be delete:RayCluster#1@after\. Use that, or --operator local"):
        runs.run(ClusterChoice.KIND, OperatorKind.POD, (name,), tmp_path, Console(quiet=True))
    assert not list(tmp_path.iterdir())


def test_an_unknown_scenario_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'gangs'"):
        runs.run(ClusterChoice.EMBEDDED, OperatorKind.POD, ("gangs",), tmp_path, Console(quiet=True))


def test_a_report_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "report"
    file.write_text("")
    with pytest.raises(HarnessError, match="Choose another --report"):
        runs.run(ClusterChoice.EMBEDDED, OperatorKind.POD, ("gang",), file, Console(quiet=True))


def test_every_known_deviation_of_kueue_is_of_a_scenario_that_there_is() -> None:
    entries = Deviations.of(kueue=KUEUE_VERSION)
    assert entries
    assert {entry.scenario for entry in entries} <= set(SCENARIOS)
    assert {entry.mode for entry in entries} <= {"", SIMULATED, REAL}


def test_the_version_of_kueue_is_the_components_own() -> None:
    assert DEFAULT_VERSION.removeprefix("v") == KUEUE_VERSION
