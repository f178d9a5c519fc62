"""A real cluster: nodes are Ready, pods run, nothing reaches beyond the machine, and everything goes when it ends."""

import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import platformdirs
import pytest

from kuberay_e2e import state
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind import PROGRAMS, KindCluster
from kuberay_e2e.clusters.provider import Cluster, Nodes
from kuberay_toolchain.images import Image
from kuberay_toolchain.images.archive import Settings, write_archive, write_layer
from kuberay_toolchain.images.catalogue import PAUSE
from kuberay_toolchain.toolchain import Toolchain

pytestmark = pytest.mark.kind

BEYOND = "198.51.100.1"
"""An address that is nobody's (RFC 5737)."""


@dataclass(frozen=True)
class Up:
    """A cluster that is up."""

    cluster: Cluster
    nodes: Nodes
    client: httpx.Client
    folder: Path

    def run_pod(self, name: str, image: str) -> str:
        """Run a pod and return its uid once it runs."""
        container = {"name": "only", "image": image, "imagePullPolicy": "Never"}
        pod = {"metadata": {"name": name}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}
        assert self.client.post("/api/v1/namespaces/default/pods", json=pod).status_code == 201
        status: dict[str, object] = {}
        for _ in range(300):
            seen = self.client.get(f"/api/v1/namespaces/default/pods/{name}").json()
            status = seen["status"]
            if status["phase"] == "Running":
                return str(seen["metadata"]["uid"])
            time.sleep(0.1)
        raise AssertionError(f"expected the pod {name} to run, saw {status}")


@pytest.fixture(scope="module")
def up(engine: ContainerEngine, node_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        with state.claim(f"test-{secrets.token_hex(3)}") as run:
            provider = KindCluster(Toolchain().ensure(*PROGRAMS), engine, {"node": node_image})
            with provider.up(run) as cluster:
                assert cluster.nodes is not None
                with Access.read(cluster.kubeconfig).client() as client:
                    yield Up(cluster, cluster.nodes, client, run.folder)


def test_the_node_is_ready_in_the_version_of_its_image(up: Up, node_image: Image) -> None:
    [node] = up.client.get("/api/v1/nodes").json()["items"]
    assert [node["metadata"]["name"]] == up.nodes.names()
    assert node["status"]["nodeInfo"]["kubeletVersion"] == node_image.reference.partition(":")[2]


def test_the_kubeconfig_is_in_the_runs_folder_and_leads_to_loopback(up: Up) -> None:
    assert up.folder in up.cluster.kubeconfig.parents
    assert up.cluster.kubeconfig.stat().st_mode & 0o077 == 0
    assert Access.read(up.cluster.kubeconfig).server.startswith("https://127.0.0.1:")


def test_a_pod_runs(up: Up) -> None:
    up.run_pod("pause", PAUSE.reference)


def test_an_image_that_was_loaded_runs(up: Up, tmp_path: Path) -> None:
    program = Toolchain().ensure("pause")["pause"]
    layer = write_layer(tmp_path / "layer", {"/waits": program}, {})
    write_archive(tmp_path / "image.tar", "example.org/loaded:1", [layer], Settings(entrypoint=("/waits",)))
    up.nodes.load(tmp_path / "image.tar")
    up.run_pod("loaded", "example.org/loaded:1")


def test_neither_a_node_nor_a_pod_reaches_beyond_the_machine(up: Up) -> None:
    [node] = up.nodes.names()
    uid = up.run_pod("confined", PAUSE.reference)
    dial = f"timeout 5 bash -c 'echo > /dev/tcp/{BEYOND}/80' 2>&1 || true"
    find = f"cat $(grep -l 'pod{uid.replace('-', '_')}' /proc/[0-9]*/cgroup | head -1 | xargs dirname)/stat"
    pod = up.nodes.exec(node, "sh", "-c", find).split()[0]
    for command in (dial, f"nsenter --target {pod} --net {dial}"):
        assert "Network is unreachable" in up.nodes.exec(node, "sh", "-c", command)


@pytest.mark.parametrize(
    ("name", "code"),
    [("kubernetes.default.svc.cluster.local", 0), ("example.org", 2)],
    ids=["a Service's name has an address", "a name outside the cluster is asked of nobody"],
)
def test_names(up: Up, name: str, code: int) -> None:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\x00\x00\x01\x00\x01"
    escaped = "".join(f"\\x{byte:02x}" for byte in query)
    send = f"printf '{escaped}' | dd bs=512 iflag=fullblock >&3"
    script = f"exec 3<>/dev/udp/10.96.0.10/53; {send}; timeout 20 dd bs=512 count=1 <&3 | od -An -tx1 -v"
    answer = bytes.fromhex(up.nodes.exec(up.nodes.names()[0], "bash", "-c", script))
    assert answer[:2] == b"\x12\x34"
    assert answer[3] & 0x0F == code


@dataclass(frozen=True)
class Holding:
    """A process that holds a cluster, with state and home folders of its own."""

    process: subprocess.Popen[str]
    state: Path
    home: Path
    engine: ContainerEngine
    name: str

    def kind_said(self) -> str:
        """What kind said so far."""
        logs = list(self.state.glob("pulumi-kuberay/runs/*/cluster/kind.log"))
        return logs[0].read_text() if logs else ""

    def remains(self) -> list[str]:
        """Containers, volumes, networks, folders, files and processes that are still there."""
        listings = (("ps", "--all"), ("volume", "ls"), ("network", "ls"))
        forms = ("{{.Names}}", "{{.Labels}}", "{{.Name}}")
        found = [
            line
            for listing, form in zip(listings, forms, strict=True)
            for line in self.engine.run(*listing, "--format", form).splitlines()
            if self.name in line
        ]
        found += [str(folder) for folder in self.state.glob("pulumi-kuberay/runs/*")]
        found += [str(path) for path in self.home.rglob("*") if path.is_file()]
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        return found + re.findall(rf".*{self.name}.*", running)


@pytest.fixture
def holding(engine: ContainerEngine, node_image: Image, tmp_path: Path) -> Iterator[Holding]:  # noqa: ARG001
    folder, home, name = tmp_path / "state", tmp_path / "home", f"held-{secrets.token_hex(3)}"
    home.mkdir()
    cache = Path(platformdirs.user_cache_dir("pulumi-kuberay")).parent
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kind.holding", name],
        env={**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(cache), "HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield Holding(process, folder, home, engine, name)
    finally:
        process.kill()
        process.wait()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(folder))
            state.sweep()


def nodes_start(held: Holding) -> bool:
    return "Preparing nodes" in held.kind_said()


def control_plane_starts(held: Holding) -> bool:
    return "Starting control-plane" in held.kind_said()


def cluster_is_up(held: Holding) -> bool:
    assert held.process.stdout is not None
    return held.process.stdout.readline() == "up\n"


def wait(moment: Callable[[Holding], bool], held: Holding) -> None:
    while not moment(held):
        assert held.process.poll() is None
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("moment", "number"),
    [(nodes_start, signal.SIGTERM), (control_plane_starts, signal.SIGINT), (cluster_is_up, signal.SIGINT)],
)
def test_nothing_is_left_by_a_run_that_a_signal_ends(
    holding: Holding, moment: Callable[[Holding], bool], number: signal.Signals
) -> None:
    wait(moment, holding)
    os.killpg(holding.process.pid, number)
    assert holding.process.wait(60) == 130
    assert holding.remains() == []


@pytest.mark.parametrize("moment", [nodes_start, cluster_is_up])
def test_what_a_killed_run_left_is_removed_by_the_next(
    holding: Holding, moment: Callable[[Holding], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    wait(moment, holding)
    holding.process.kill()
    holding.process.wait()
    assert holding.remains()
    monkeypatch.setenv("XDG_STATE_HOME", str(holding.state))
    [sentence] = state.sweep()
    assert sentence.startswith(f"Removed what the killed run {holding.name!r} left")
    assert holding.remains() == []
