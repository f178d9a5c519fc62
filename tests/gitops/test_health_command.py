"""`kuberay-e2e gitops health` writes what each engine reads."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from kuberay_e2e.cli import app
from kuberay_e2e.errors import InputError

KINDS = {"RayJob", "RayCluster", "RayService", "ClusterQueue", "LocalQueue", "Workload"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["gitops", "health", *arguments])


def test_it_writes_a_file_for_each_engine(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "health"
    assert run("--out", str(folder)).exit_code == 0
    keys = yaml.safe_load((folder / "argocd-cm.yaml").read_text())["data"]
    assert {key.rpartition("_")[2] for key in keys} == KINDS
    assert "resource.customizations.health.ray.io_RayJob" in keys
    assert "resource.customizations.health.kueue.x-k8s.io_ClusterQueue" in keys
    entries = yaml.safe_load((folder / "flux-health-check-exprs.yaml").read_text())["spec"]["healthCheckExprs"]
    assert {entry["kind"] for entry in entries} == KINDS
    assert all(entry["current"] and entry["apiVersion"] for entry in entries)


@pytest.mark.parametrize(("engine", "word"), [("argocd", "argocd-cm"), ("flux", "healthCheckExprs")])
def test_it_prints_the_checks_of_one_engine(engine: str, word: str) -> None:
    result = run("--engine", engine)
    assert result.exit_code == 0
    assert word in result.stdout
    assert len(list(yaml.safe_load_all(result.stdout))) == 1


def test_the_same_bytes_each_time() -> None:
    assert run().stdout == run().stdout


def test_an_unknown_engine_is_refused() -> None:
    assert run("--engine", "jenkins").exit_code == 2


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("--out", str(tmp_path / "file"))
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == (
        f"Expected --out to name a folder, but {tmp_path / 'file'} is a file. Name another."
    )
