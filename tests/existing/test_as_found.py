"""A user's cluster is left as it was found: when nothing was agreed to, at the end, and after Ctrl-C."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kuberay_e2e import samples, state
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.clusters.footprint import Footprint
from kuberay_e2e.clusters.inventory import CRDS
from kuberay_e2e.session import OPERATOR, Programs
from kuberay_toolchain.toolchain import Toolchain
from tests.e2e.commands import lifecycle
from tests.existing.everything import everything, found_again, settled

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def kubeconfig(kuberay_programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's cluster: an embedded control plane, whose pods are simulated."""
    with (
        pytest.MonkeyPatch.context() as patch,
        state.claim(state.free_name("users")) as run,
        EmbeddedCluster(kuberay_programs.paths).up(run) as cluster,
    ):
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        settled(Access.read(cluster.kubeconfig))
        yield cluster.kubeconfig


@pytest.fixture
def before(kubeconfig: Path) -> set[str]:
    """Every object of the user's cluster before the test."""
    return everything(Access.read(kubeconfig))


def test_nothing_is_done_where_nobody_can_be_asked(tmp_path: Path, kubeconfig: Path, before: set[str]) -> None:
    with lifecycle(tmp_path, "--cluster", "existing", "--kubeconfig", str(kubeconfig)) as command:
        code, said = command.end(120)
    assert code == 2, said
    assert "Made there, and removed at the end with everything in them: namespaces kuberay-e2e-" in said
    assert "there is no terminal to ask you on. Agree by --yes." in said
    assert found_again(Access.read(kubeconfig), before)


def test_a_namespace_that_is_there_is_refused(tmp_path: Path, kubeconfig: Path, before: set[str]) -> None:
    rayjob, config = yaml.safe_load_all(samples.path().read_text())
    for item in (rayjob, config):
        item["metadata"]["namespace"] = "default"
    (tmp_path / "job.yaml").write_text(yaml.safe_dump_all([rayjob, config]))
    arguments = ("--cluster", "existing", "--kubeconfig", str(kubeconfig), "--yes")
    with lifecycle(tmp_path, str(tmp_path / "job.yaml"), *arguments) as command:
        code, said = command.end(120)
    assert code == 2, said
    assert "The namespace default of the manifest exists" in said
    assert found_again(Access.read(kubeconfig), before)


def test_an_object_outside_namespaces_is_refused(tmp_path: Path, kubeconfig: Path, before: set[str]) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "mine"}}
    (tmp_path / "role.yaml").write_text(yaml.safe_dump(role))
    arguments = ("--cluster", "existing", "--kubeconfig", str(kubeconfig), "--yes")
    with lifecycle(tmp_path, str(samples.path()), str(tmp_path / "role.yaml"), *arguments) as command:
        code, said = command.end(120)
    assert code == 2, said
    assert "The ClusterRole mine of the manifest is in no namespace" in said
    assert found_again(Access.read(kubeconfig), before)


@pytest.mark.nightly
def test_after_a_life_cycle_that_failed(tmp_path: Path, kubeconfig: Path, before: set[str]) -> None:
    """No Ray answers behind simulated pods: the RayJob does not end in time, and everything goes all the same."""
    arguments = ("--kubeconfig", str(kubeconfig), "--yes", "--operator", "local", "--job-timeout", "5")
    with lifecycle(
        tmp_path, "--cluster", "existing", *arguments, "--kill-at", "create:RayCluster@committed"
    ) as command:
        code, said = command.end(400)
        assert command.leftovers() == []
    assert code == 1, said
    assert " 3 create the RayJob                                    ok" in said
    assert found_again(Access.read(kubeconfig), before)


@pytest.mark.parametrize("line", [" 1 create the cluster", " 2 install CRDs and operator"])
def test_after_ctrl_c(tmp_path: Path, kubeconfig: Path, before: set[str], line: str) -> None:
    arguments = ("--kubeconfig", str(kubeconfig), "--yes")
    with lifecycle(tmp_path, "--cluster", "existing", *arguments) as command:
        command.wait_line(line)
        command.process.send_signal(signal.SIGINT)
        code, said = command.end(200)
        assert command.leftovers() == []
    assert code == 130, said
    assert found_again(Access.read(kubeconfig), before)


@pytest.fixture
def installed(kubeconfig: Path) -> Iterator[None]:
    """KubeRay's CRDs and a Deployment of its operator, whose pod is simulated."""
    labels = {"app.kubernetes.io/name": "kuberay-operator"}
    container = {"name": "operator", "image": "quay.io/kuberay/operator:v1.6.2"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    folder = Toolchain().files(OPERATOR) / "config" / "crd" / "bases"
    crds = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in folder.glob("*.yaml")]
    with Access.read(kubeconfig).client(timeout=60) as client:
        made = [
            ("/api/v1/namespaces", {"metadata": {"name": "theirs"}}),
            *((CRDS, crd) for crd in crds),
            (
                "/apis/apps/v1/namespaces/theirs/deployments",
                {"metadata": {"name": "operator", "labels": labels}, "spec": deployment},
            ),
        ]
        for path, item in made:
            client.post(path, json=item).raise_for_status()
        while not client.get(f"{made[-1][0]}/operator").json().get("status", {}).get("readyReplicas"):
            time.sleep(0.1)
        yield
        for path in [f"{path}/{item['metadata']['name']}" for path, item in reversed(made)]:
            client.delete(path).raise_for_status()
            while client.get(path).status_code != 404:
                time.sleep(0.1)


@pytest.mark.usefixtures("installed")
def test_an_operator_that_is_there_is_not_replaced(tmp_path: Path, kubeconfig: Path) -> None:
    before = everything(Access.read(kubeconfig))
    with lifecycle(tmp_path, "--cluster", "existing", "--kubeconfig", str(kubeconfig), "--yes") as command:
        code, said = command.end(120)
    assert code == 2, said
    assert "the operator 1.6.2 of the Deployment theirs/operator" in said
    assert found_again(Access.read(kubeconfig), before)


@pytest.mark.usefixtures("installed")
def test_an_operator_that_is_there_is_used_and_left_running(tmp_path: Path, kubeconfig: Path) -> None:
    """This one does nothing, so that its write is waited for in vain."""
    before = everything(Access.read(kubeconfig))
    arguments = ("--kubeconfig", str(kubeconfig), "--yes", "--use-installed", "--job-timeout", "5")
    with lifecycle(tmp_path, "--cluster", "existing", *arguments) as command:
        code, said = command.end(400)
    assert code == 1, said
    assert "Expected the write create:Job#1 of the operator within 5 s" in said
    assert "the operator that was there left alone" in said
    assert found_again(Access.read(kubeconfig), before)


@pytest.mark.nightly
def test_what_a_killed_run_left_is_removed_by_the_next(
    tmp_path: Path, kubeconfig: Path, before: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("--kubeconfig", str(kubeconfig), "--yes", "--name", "killed")
    with lifecycle(tmp_path, "--cluster", "existing", *arguments) as command:
        command.wait_line(" 2 install CRDs and operator")
        command.process.kill()
        command.process.wait()
        assert everything(Access.read(kubeconfig)) != before
        monkeypatch.setenv("XDG_STATE_HOME", str(command.state))
        [sentence] = state.sweep()
        assert command.leftovers() == []
    assert sentence.startswith("Removed what the killed run 'killed' left: ")
    assert "2 namespaces" in sentence
    assert found_again(Access.read(kubeconfig), before)


def test_a_namespace_of_somebody_else_stays(kubeconfig: Path) -> None:
    with Access.read(kubeconfig).client() as client:
        client.post("/api/v1/namespaces", json={"metadata": {"name": "somebodys"}}).raise_for_status()
        assert Footprint("run-x", ("somebodys",)).remove(Access.read(kubeconfig)) == []
        assert client.get("/api/v1/namespaces/somebodys").is_success
        client.delete("/api/v1/namespaces/somebodys").raise_for_status()
