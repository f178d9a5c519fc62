"""Real previews: the examples and the project in the repository's root, on the embedded cluster."""

from pathlib import Path

import pytest
import yaml

from kuberay_e2e.session import Session
from kuberay_toolchain import Toolchain
from tests.examples.programs import EXAMPLES
from tests.examples.pulumi_command import PulumiCommand

ROOT = EXAMPLES.parent

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]


@pytest.fixture
def command(kuberay_session: Session, tmp_path: Path) -> PulumiCommand:
    return PulumiCommand(kuberay_session, tmp_path)


@pytest.mark.parametrize(("name", "jobs"), [("gpu-team", 2), ("batch-inference", 1), ("deletion-rules", 1)])
def test_an_example_previews(command: PulumiCommand, name: str, jobs: int) -> None:
    command.copy(*(path for path in (EXAMPLES / name).iterdir() if not path.name.startswith(("_", "."))))
    command.copy(EXAMPLES / name / "__main__.py")

    command.run("stack", "init", "dev")
    said = command.run("preview", "--stack", "dev", "--diff")

    assert said.count("+ kubernetes:ray.io/v1:RayJob: (create)") == jobs
    assert "error" not in said.lower()


def test_the_dev_stack_previews_from_the_root(command: PulumiCommand, tmp_path: Path) -> None:
    charts = tmp_path / "charts"
    charts.mkdir()
    (charts / "kuberay-operator").symlink_to(Toolchain().files("kuberay-operator") / "chart")
    command.copy(ROOT / "Pulumi.yaml", ROOT / "stacks")
    file = command.project / "stacks" / "Pulumi.dev.yaml"
    stack = yaml.safe_load(file.read_text(encoding="utf-8"))
    stack["config"]["kuberay:charts"] = str(charts)
    stack["config"]["kuberay:versions"]["kuberay"] = Toolchain().select("kuberay-operator").version
    del stack["config"]["kuberay:kueue"]  # its CRDs alone take Pulumi a minute
    file.write_text(yaml.safe_dump(stack), encoding="utf-8")

    command.run("stack", "init", "dev")
    said = command.run("preview", "--stack", "dev")

    for resource in (
        "kuberay:index:KubeRayCrds kuberay-crds",
        "kubernetes:apps/v1:Deployment kuberay-operator:ray-system/kuberay-operator",
        "kuberay:index:ClusterQueue dev",
        "kuberay:index:LocalQueue dev",
        "kuberay:index:RayJob counter",
    ):
        assert resource in said
    assert "to create" in said
