import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from recording_engine import Engine, Run

from pulumi_kuberay import (
    ArgumentError,
    HelmChart,
    InstallMode,
    KubeRayOperator,
    KubeRayOperatorArgs,
    KustomizeFolders,
    OperatorEnvironment,
)

CHART = "kubernetes:helm.sh/v4:Chart"
RELEASE = "kubernetes:helm.sh/v3:Release"
DIRECTORY = "kubernetes:kustomize/v2:Directory"
NAMESPACE = "kubernetes:core/v1:Namespace"


def declare(run: Run, **args: Any) -> Engine:
    return run(lambda: KubeRayOperator("operator", KubeRayOperatorArgs(**args)))


def outputs(run: Run, **args: Any) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def program() -> None:
        operator = KubeRayOperator("operator", KubeRayOperatorArgs(**args))
        for name in ("namespace", "deployment_name", "service_account_name"):
            getattr(operator, name).apply(lambda value, name=name: seen.update({name: value}))

    run(program)
    return seen


def test_by_default_pulumi_owns_the_chart_of_the_default_version_without_its_crds(run: Run) -> None:
    chart = declare(run).one(CHART)

    assert chart["chart"] == "kuberay-operator"
    assert chart["version"] == "1.6.2"
    assert chart["repositoryOpts"] == {"repo": "https://ray-project.github.io/kuberay-helm/"}
    assert chart["namespace"] == "ray-system"
    assert chart["skipCrds"] is True


def test_the_namespace_is_created_unless_it_is_somebody_elses(run: Run) -> None:
    assert declare(run, namespace="kuberay").one(NAMESPACE)["metadata"] == {"name": "kuberay"}
    assert declare(run, create_namespace=False).inputs(NAMESPACE) == []


def test_a_local_chart_needs_no_repository(run: Run) -> None:
    chart = declare(run, chart=HelmChart(path="charts/kuberay-operator")).one(CHART)

    assert chart["chart"] == "charts/kuberay-operator"
    assert not {"version", "repositoryOpts"} & set(chart)


def test_a_chart_may_come_from_a_registry(run: Run) -> None:
    chart = declare(run, chart=HelmChart(repository="oci://mirror.example/charts", version="1.6.2-1")).one(CHART)

    assert (chart["chart"], chart["version"]) == ("oci://mirror.example/charts/kuberay-operator", "1.6.2-1")
    assert "repositoryOpts" not in chart


def test_helm_may_own_the_chart_as_a_release_with_the_same_values(run: Run) -> None:
    args = {"version": "1.7.0", "replicas": 2, "namespace": "kuberay", "values": {"newValue": 1}}
    engine = declare(run, install=InstallMode.RELEASE, **args)

    release, chart = engine.one(RELEASE), declare(run, **args).one(CHART)
    assert engine.inputs(CHART) == []
    same = ("chart", "version", "repositoryOpts", "namespace", "name", "skipCrds", "values")
    assert {key: release[key] for key in same} == {key: chart[key] for key in same}


def test_values_are_merged_last(run: Run) -> None:
    values = declare(
        run, replicas=2, values={"replicas": 5, "featureGates": [], "metrics": {"serviceMonitor": {"enabled": True}}}
    ).one(CHART)["values"]

    assert values["replicas"] == 5
    assert values["featureGates"] == []
    assert values["metrics"] == {"serviceMonitor": {"enabled": True}}


def test_outputs_follow_the_names_that_the_chart_gives(run: Run) -> None:
    assert outputs(run, namespace="kuberay") == {
        "namespace": "kuberay",
        "deployment_name": "kuberay-operator",
        "service_account_name": "kuberay-operator",
    }
    renamed = outputs(run, fullname_override="ray", values={"serviceAccount": {"name": "ray-account"}})
    assert (renamed["deployment_name"], renamed["service_account_name"]) == ("ray", "ray-account")


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda message, *_: told.append(message))
    return told


@pytest.mark.parametrize(
    "args",
    [
        {"environment": OperatorEnvironment(delete_rayjob_cr_after_job_finishes=True)},
        {"env": {"DELETE_RAYJOB_CR_AFTER_JOB_FINISHES": "true"}},
        {"values": {"env": [{"name": "DELETE_RAYJOB_CR_AFTER_JOB_FINISHES", "value": "true"}]}},
    ],
)
def test_an_operator_that_deletes_finished_jobs_is_warned_of(
    run: Run, warnings: list[str], args: dict[str, Any]
) -> None:
    declare(run, **args)

    [warning] = warnings
    assert "finds the object gone, and the next pulumi up runs the job again" in warning


def test_an_operator_that_keeps_finished_jobs_needs_no_warning(run: Run, warnings: list[str]) -> None:
    declare(run, environment=OperatorEnvironment(delete_rayjob_cr_after_job_finishes=False))

    assert warnings == []


@pytest.fixture
def kustomization(tmp_path: Path) -> Path:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "kustomization.yaml").write_text("resources: []")
    return tmp_path / "base"


def test_a_kustomization_is_overlaid_with_the_same_settings(run: Run, kustomization: Path) -> None:
    source = KustomizeFolders(paths=[str(kustomization)], patches=[{"path": "mine.yaml"}])
    folder = Path(declare(run, kustomize=source, namespace="kuberay", replicas=2).one(DIRECTORY)["directory"])

    overlay = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert overlay["namespace"] == "kuberay"
    assert [(folder / base).resolve() for base in overlay["resources"]] == [kustomization.resolve()]
    *removals, deployment, own = overlay["patches"]
    assert [removal["target"]["kind"] for removal in removals] == ["CustomResourceDefinition", "Namespace"]
    assert {json.loads(removal["patch"])["$patch"] for removal in removals} == {"delete"}
    assert json.loads(deployment["patch"])["spec"]["replicas"] == 2
    assert own == {"path": "mine.yaml"}


def test_the_overlay_is_the_same_folder_on_every_run(run: Run, kustomization: Path) -> None:
    source = KustomizeFolders(paths=[str(kustomization)])
    folders = {declare(run, kustomize=source).one(DIRECTORY)["directory"] for _ in range(2)}
    other = declare(run, kustomize=source, replicas=2).one(DIRECTORY)["directory"]

    assert len(folders) == 1 and other not in folders


@pytest.mark.parametrize(("paths", "sentence"), [([], "have no path"), (["/nowhere"], "has no kustomization.yaml")])
def test_a_kustomization_that_is_not_there_is_refused(run: Run, paths: list[str], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        declare(run, kustomize=KustomizeFolders(paths=paths))
