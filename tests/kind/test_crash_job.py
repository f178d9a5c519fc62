"""The crash plan in the pods of an Indexed Job, on a kind cluster that stands for a user's."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import platformdirs
import pytest

from kuberay_e2e import state
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind import PROGRAMS, KindCluster
from kuberay_e2e.crash.store import SweepFolder
from kuberay_toolchain.images import Image, Images
from kuberay_toolchain.images.archive import read_reference
from kuberay_toolchain.toolchain import Toolchain

pytestmark = [pytest.mark.kind, pytest.mark.timeout(2400)]

SECONDS = 1500
NAMESPACE = "crash-sweep-test"


@dataclass(frozen=True)
class Users:
    """A user's cluster.

    Attributes:
        kubeconfig: How it is reached.
        image: Reference of the harness's image, which its nodes have.
        state: State folder of the commands that are run.
    """

    kubeconfig: Path
    image: str
    state: Path

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `kuberay-e2e crash job`."""
        cache = Path(platformdirs.user_cache_dir("pulumi-kuberay")).parent
        where = ("--kubeconfig", str(self.kubeconfig), "--namespace", NAMESPACE, "--yes")
        asked = ("--image", self.image, "--cpu", "0.3", "--memory", "3Gi")
        return subprocess.Popen(
            [sys.executable, "-m", "kuberay_e2e.cli", "crash", "job", *asked, *where, *arguments],
            env={**os.environ, "XDG_STATE_HOME": str(self.state), "XDG_CACHE_HOME": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def client(self) -> httpx.Client:
        return Access.read(self.kubeconfig).client(timeout=30.0)


@pytest.fixture(scope="module")
def users(engine: ContainerEngine, node_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    toolchain = Toolchain()
    harness = Images(toolchain).ensure("harness")["harness"]
    provider = KindCluster(toolchain.ensure(*PROGRAMS), engine, {"node": node_image})
    with state.claim(state.free_name("users")) as claimed, provider.up(claimed) as cluster:
        assert cluster.nodes is not None
        cluster.nodes.load(harness.archive)
        yield Users(cluster.kubeconfig, read_reference(harness.archive), tmp_path_factory.mktemp("state"))


def test_the_parts_make_one_report_and_leave_nothing(tmp_path: Path, users: Users) -> None:
    report = tmp_path / "report"
    budget = ("--parts", "2", "--time-budget", "60s", "--scenario", "http", "--workers", "2")
    process = users.command(*budget, "--report", str(report))
    said, _ = process.communicate(timeout=SECONDS)
    print(said)
    assert process.returncode == 0, said
    results = SweepFolder(report).results()
    assert results and not [result.error for result in results if result.error], said
    assert len({str(result.point) for result in results}) == len(results), "no run is in both parts"
    assert json.loads((report / "result.json").read_text())
    assert (report / "index.html").exists()
    for part in ("part 1/2: Succeeded", "part 2/2: Succeeded"):
        assert part in said
    with users.client() as client:
        assert client.get(f"/api/v1/namespaces/{NAMESPACE}").status_code == 404
    assert not list((users.state / "pulumi-kuberay" / "runs").glob("*/"))


def test_ctrl_c_removes_what_was_made(tmp_path: Path, users: Users) -> None:
    process = users.command("--parts", "1", "--scenario", "http", "--report", str(tmp_path / "report"))
    try:
        with users.client() as client:
            deadline = time.monotonic() + 300
            phases: list[str] = []
            while "Running" not in phases and time.monotonic() < deadline:
                pods = client.get(f"/api/v1/namespaces/{NAMESPACE}/pods").json().get("items", ())
                phases = [pod["status"].get("phase", "") for pod in pods]
                time.sleep(0.5)
            assert phases == ["Running"]
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=300)
            assert process.returncode == 130, said
            assert client.get(f"/api/v1/namespaces/{NAMESPACE}").status_code == 404
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
