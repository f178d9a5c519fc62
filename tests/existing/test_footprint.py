"""What was made on a cluster that no longer answers is named, so that it can be removed by hand."""

from pathlib import Path

import pytest

from kuberay_e2e.access import Access
from kuberay_e2e.clusters.footprint import KUBECONFIG, Footprint, remove_leftovers
from kuberay_e2e.clusters.kubeconfig import write
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK, free_ports

FOOTPRINT = Footprint("run-x", ("ray-jobs-abc",), ("rayjobs.ray.io",), ())


@pytest.fixture
def server() -> str:
    """Nobody listens there."""
    return f"http://{LOOPBACK}:{free_ports(1)[0]}"


def test_a_cluster_that_vanished(server: str) -> None:
    with pytest.raises(HarnessError) as error:
        FOOTPRINT.remove(Access(server))
    assert f"The cluster at {server} does not answer any more" in str(error.value)
    assert "namespaces ray-jobs-abc; CRDs rayjobs.ray.io; ClusterRoles and ClusterRoleBindings none" in str(error.value)


def test_a_killed_run_whose_cluster_vanished_is_kept_until_somebody_gives_it_up(tmp_path: Path, server: str) -> None:
    config = {
        "current-context": "gone",
        "contexts": [{"name": "gone", "context": {"cluster": "gone", "user": "me"}}],
        "clusters": [{"name": "gone", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {}}],
    }
    write(config, tmp_path / KUBECONFIG)
    FOOTPRINT.note(tmp_path)
    with pytest.raises(HarnessError, match=f"gone for good, delete the folder {tmp_path}"):
        remove_leftovers(tmp_path)


def test_a_run_that_had_a_cluster_of_its_own_left_nothing_elsewhere(tmp_path: Path) -> None:
    assert remove_leftovers(tmp_path) == []
