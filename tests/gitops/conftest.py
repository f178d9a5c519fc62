"""Flux's kustomize-controller beside the shared cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kuberay_e2e.gitops.sync import Flux, KustomizeController, Source
from kuberay_e2e.session import Session


@pytest.fixture(scope="session")
def kustomize_controller(
    kuberay_session: Session, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KustomizeController]:
    """The controller, running."""
    from kuberay_toolchain.toolchain import Toolchain

    toolchain = Toolchain()
    program = toolchain.ensure("kustomize-controller")["kustomize-controller"]
    crds = toolchain.files("kustomize-controller") / "crds"
    with Source() as source, Flux(kuberay_session.access, "default", source) as flux:
        flux.install_crds(crds)
    cluster = kuberay_session.cluster
    folder: Path = tmp_path_factory.mktemp("kustomize-controller")
    with KustomizeController(program, cluster.kubeconfig, folder, cluster.name) as controller:
        yield controller


@pytest.fixture
def flux(kuberay_session: Session, kuberay_namespace: str, kustomize_controller: KustomizeController) -> Iterator[Flux]:
    """Kustomizations in the test's namespace; those that the test leaves are removed after it."""
    assert kustomize_controller.log.exists()
    with Source() as source, Flux(kuberay_session.access, kuberay_namespace, source) as made:
        yield made
        made.remove_all()
