"""Runs whose control plane is gone, is stopped or cannot be reached; those that come out are in tests/e2e."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kuberay_e2e.access import Access
from kuberay_e2e.crash.health import ControlPlaneGone, SweepError
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.sweep import Outcome, Sweep
from kuberay_e2e.network import LOOPBACK, free_ports
from kuberay_e2e.session import Programs

POINTS = [Point("k8sjob"), Point("http"), Point("ttl")]


@pytest.fixture
def nowhere() -> Any:
    """Ground on which no API server answers."""
    return SimpleNamespace(session=SimpleNamespace(access=Access(f"http://{LOOPBACK}:{free_ports(1)[0]}")))


def sweep(ground: Any, folder: Path, ended: str = "") -> Sweep:
    return Sweep(ground, Programs({}, {}), folder, lambda: ended)


def test_a_run_that_the_api_server_does_not_answer_is_an_error_of_its_own(nowhere: Any, tmp_path: Path) -> None:
    told: list[Outcome] = []
    outcomes = sweep(nowhere, tmp_path).all(POINTS, workers=2, ended=told.append)
    assert outcomes == told
    assert {outcome.point for outcome in outcomes} == set(POINTS)
    assert all("The API server did not answer" in outcome.error for outcome in outcomes)


def test_without_its_control_plane_a_sweep_ends_and_knows_nothing_of_its_runs(nowhere: Any, tmp_path: Path) -> None:
    told: list[Outcome] = []
    with pytest.raises(ControlPlaneGone, match="kube-apiserver"):
        sweep(nowhere, tmp_path, "kube-apiserver").all(POINTS, workers=2, ended=told.append)
    assert told == []


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SweepError])
def test_an_interruption_begins_no_further_run(nowhere: Any, tmp_path: Path, interruption: type[BaseException]) -> None:
    told: list[Outcome] = []

    def interrupted(outcome: Outcome) -> None:
        told.append(outcome)
        raise interruption

    with pytest.raises(interruption):
        sweep(nowhere, tmp_path).all(POINTS * 10, workers=1, ended=interrupted)
    assert len(told) == 1
    assert len(list(tmp_path.iterdir())) <= 2


def test_a_time_that_is_over_begins_no_run(nowhere: Any, tmp_path: Path) -> None:
    assert sweep(nowhere, tmp_path).all(POINTS, workers=2, seconds=0.0) == []
