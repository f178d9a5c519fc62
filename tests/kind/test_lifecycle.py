"""The ten steps on real pods: on a kind cluster of their own, and on one that stands for a user's."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e import samples, state
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind import KindCluster
from kuberay_e2e.session import OperatorKind
from kuberay_e2e.targets import kind_needs
from kuberay_toolchain.toolchain import Toolchain
from tests.e2e.commands import lifecycle
from tests.existing.everything import everything, found_again, settled

pytestmark = [pytest.mark.kind, pytest.mark.timeout(1800), pytest.mark.usefixtures("engine", "node_image")]

SECONDS = 1500


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """Run a life cycle that holds; its report."""
    report = folder / "report"
    with lifecycle(folder, "--report", str(report), *arguments) as command:
        code, said = command.end(SECONDS)
        assert code == 0, said
        assert command.leftovers() == []
    result: dict[str, Any] = json.loads((report / "result.json").read_text())
    assert [step["state"] for step in result["steps"]] == ["held"] * 10
    assert all(invariant["held"] for invariant in result["invariants"])
    return result


def operators(report: Path) -> list[tuple[str, int]]:
    """What happened to the operator, with its incarnation, in order."""
    lines = map(json.loads, (report / "trace.jsonl").read_text().splitlines())
    return [(line["event"], line["incarnation"]) for line in lines if line["kind"] == "operator"]


def sample(folder: Path, mode: str) -> Path:
    """The bundled sample in another submission mode."""
    rayjob, config = yaml.safe_load_all(samples.path().read_text())
    del rayjob["spec"]["submitterPodTemplate"]
    rayjob["spec"]["submissionMode"] = mode
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump_all([rayjob, config]))
    return path


def test_the_operator_is_killed_in_its_pod(tmp_path: Path) -> None:
    result = run(tmp_path, "--cluster", "kind", "--operator", "pod")
    assert result["fault"] == "create:Job#1@after"
    assert any("SIGKILL on its node" in note for note in result["notes"])
    assert operators(tmp_path / "report")[:3] == [("started", 1), ("killed", 1), ("started", 2)]
    logs = {log.name for log in (tmp_path / "report" / "logs").iterdir()}
    assert {"operator-1.log", "operator-2.log"} <= logs
    assert any(name.startswith("pod-ray-jobs-counter-") for name in logs), "the submitters' logs are kept"


def test_the_operator_is_killed_at_the_exact_write(tmp_path: Path) -> None:
    result = run(tmp_path, "--cluster", "kind", "--operator", "local")
    assert result["fault"] == "create:Job#1@committed"
    kinds = {json.loads(line)["kind"] for line in (tmp_path / "report" / "trace.jsonl").read_text().splitlines()}
    assert {"request", "response", "watch", "fault", "operator", "object"} <= kinds


@pytest.mark.parametrize("line", [" 1 create the cluster", " 2 install CRDs and operator"])
def test_ctrl_c_leaves_nothing(tmp_path: Path, engine: ContainerEngine, line: str) -> None:
    with lifecycle(tmp_path, "--cluster", "kind", "--name", "interrupted") as command:
        command.wait_line(line)
        command.process.send_signal(signal.SIGINT)
        code, said = command.end(180)
        assert command.leftovers() == []
    assert code == 130, said
    assert "interrupted" not in engine.run("ps", "--all", "--format", "{{.Names}}")


@pytest.fixture(scope="module")
def users_cluster(engine: ContainerEngine) -> Iterator[Path]:
    """The kubeconfig of a cluster that is not the harness's, and whose nodes have the images."""
    programs, images = kind_needs(Toolchain(), OperatorKind.POD)
    provider = KindCluster(programs.paths, engine, images)
    with state.claim(state.free_name("users")) as claimed, provider.up(claimed) as cluster:
        assert cluster.nodes is not None
        for name in ("operator", "ray"):
            if name in images:
                cluster.nodes.load(images[name].archive)
        settled(Access.read(cluster.kubeconfig))
        yield cluster.kubeconfig


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [
        ("K8sJobMode", ("--operator", "pod")),
        ("SidecarMode", ("--operator", "pod")),
        ("HTTPMode", ("--operator", "local", "--kill-at", "submit:RayJobs@committed")),
    ],
    ids=["pod deleted", "SidecarMode", "local, HTTPMode"],
)
def test_a_users_cluster_is_left_as_it_was_found(
    tmp_path: Path, users_cluster: Path, mode: str, arguments: tuple[str, ...]
) -> None:
    before = everything(Access.read(users_cluster))
    manifest = () if mode == "K8sJobMode" else (str(sample(tmp_path, mode)),)
    run(tmp_path, *manifest, "--cluster", "existing", "--kubeconfig", str(users_cluster), "--yes", *arguments)
    assert found_again(Access.read(users_cluster), before)
