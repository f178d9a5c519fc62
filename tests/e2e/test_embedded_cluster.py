"""The embedded control plane: several side by side, on loopback only, gone without a trace."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from kuberay_e2e import processes, state
from kuberay_e2e.access import Access
from kuberay_e2e.clusters import Cluster
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK, free_ports
from kuberay_e2e.session import Programs

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def provider(kuberay_programs: Programs) -> EmbeddedCluster:
    return EmbeddedCluster(kuberay_programs.paths)


def version(cluster: Cluster) -> str:
    with Access.read(cluster.kubeconfig).client() as client:
        found: str = client.get("/version").json()["gitVersion"]
        return found


def sockets(marker: str) -> Iterator[tuple[str, int]]:
    for process in processes.marked(marker):
        for connection in process.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN:
                yield connection.laddr.ip, connection.laddr.port


def test_two_side_by_side_then_gone(provider: EmbeddedCluster) -> None:
    with ExitStack() as stack:
        one = stack.enter_context(state.claim("one"))
        two = stack.enter_context(state.claim("two"))
        first = stack.enter_context(provider.up(one))
        second = stack.enter_context(provider.up(two))
        assert version(first) == version(second) == "v1.34.4"
        ports = {run.marker: set(sockets(run.marker)) for run in (one, two)}
        assert {ip for found in ports.values() for ip, _ in found} == {LOOPBACK}
        assert not ports[one.marker] & ports[two.marker]
    assert processes.marked(one.marker) == processes.marked(two.marker) == []
    assert not list(state.runs_folder().iterdir())


def test_no_program_of_the_machine_is_needed(
    provider: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """kwokctl runs kubectl, and fetches one from the internet where it finds none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with state.claim("one") as run, provider.up(run) as cluster:
        assert version(cluster) == "v1.34.4"


def test_pods_have_addresses_that_the_kernel_refuses_to_dial(provider: EmbeddedCluster) -> None:
    with state.claim("one") as run, provider.up(run) as cluster, Access.read(cluster.kubeconfig).client() as client:
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "none"}]}}
        client.post("/api/v1/namespaces/default/pods", json=pod).raise_for_status()
        address = ""
        while not address:
            found = client.get("/api/v1/namespaces/default/pods/p").json()
            address = found["status"].get("podIP", "")
        service = client.get("/api/v1/namespaces/default/services/kubernetes").json()["spec"]["clusterIP"]
    for dialled in (address, service):
        with socket.socket() as opened, pytest.raises(OSError, match="unreachable"):
            opened.settimeout(5)
            opened.connect((dialled, 8265))


def test_a_taken_port_is_answered_by_another_choice(kuberay_programs: Programs) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        choices: list[list[int]] = []

        def choose(count: int) -> list[int]:
            ports = free_ports(count)
            if not choices:
                ports[0] = taken.getsockname()[1]
            choices.append(ports)
            return ports

        with state.claim("one") as run, EmbeddedCluster(kuberay_programs.paths, ports=choose).up(run) as cluster:
            assert version(cluster) == "v1.34.4"
        assert len(choices) == 2


def test_a_program_that_does_not_run_is_told_with_its_log(kuberay_programs: Programs, tmp_path: Path) -> None:
    broken = tmp_path / "etcd"
    broken.write_text(
        '#!/bin/sh\ntest "$1" = --version && echo etcd Version: 3.6.16 && exit\necho out of order >&2; exit 1\n'
    )
    broken.chmod(0o755)
    provider = EmbeddedCluster({**kuberay_programs.paths, "etcd": broken}, ready_seconds=5)
    with state.claim("one") as run, pytest.raises(HarnessError, match="out of order"), provider.up(run):
        pass
    assert not list(state.runs_folder().iterdir())
