"""The back ends, each with one head for a module's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kuberay_e2e.ray import Ledger, LocalRay, RayBackend, SimulatedRay
from tests.ray.bench import Bench, scripted


def simulated(folder: Path, ledger: Ledger) -> RayBackend:
    return SimulatedRay(folder, ledger, marker=f"test-{folder.parent.name}", script=scripted)


def local(folder: Path, ledger: Ledger) -> RayBackend:
    return LocalRay(folder, ledger, marker=f"test-{folder.parent.name}")


@pytest.fixture(scope="module", params=[simulated, local], ids=["simulated", "local"])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(request.param, tmp_path_factory.mktemp("bench"))
    yield made
    made.close()
