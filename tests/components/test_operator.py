import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from recording_engine import Engine, Run

from pulumi_kuberay import (
    ArgumentError,
    HelmChart,
    KubeRayOperator,
    KubeRayOperatorArgs,
    KustomizeFolders,
    OperatorImage,
)
from pulumi_kuberay.operator_settings import chart_names, container_patch, settings

CHART = "kubernetes:helm.sh/v4:Chart"
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


def test_by_default_the_chart_of_the_default_version_is_installed_without_crds(run: Run) -> None:
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


def test_typed_arguments_become_values(run: Run) -> None:
    values = declare(
        run,
        image=OperatorImage(repository="registry.example/operator", tag="v1.6.2-1"),
        replicas=2,
        use_kubernetes_proxy=True,
        watch_namespaces=["a", "b"],
        reconcile_concurrency=3,
        metrics=False,
        env={"ENABLE_LOGIN_SHELL": "true"},
        resources={"limits": {"memory": "1Gi"}},
    ).one(CHART)["values"]

    assert values["image"] == {"repository": "registry.example/operator", "tag": "v1.6.2-1"}
    assert values["replicas"] == 2
    assert values["leaderElectionEnabled"] is True
    assert values["useKubernetesProxy"] is True
    assert values["watchNamespace"] == ["a", "b"]
    assert values["reconcileConcurrency"] == 3
    assert values["metrics"] == {"enabled": False}
    assert values["env"] == [{"name": "ENABLE_LOGIN_SHELL", "value": "true"}]
    assert values["resources"] == {"limits": {"memory": "1Gi"}}


def test_all_feature_gates_are_rendered_because_helm_replaces_lists(run: Run) -> None:
    values = declare(run, version="1.7.0", feature_gates={"RayCronJob": True}).one(CHART)["values"]

    gates = {gate["name"]: gate["enabled"] for gate in values["featureGates"]}
    assert gates["RayCronJob"] is True
    assert gates["RayJobDeletionPolicy"] is True
    assert gates["RayClusterMTLS"] is False
    assert values["image"]["tag"] == "v1.7.0"


def test_values_are_merged_last(run: Run) -> None:
    values = declare(run, replicas=2, values={"replicas": 5, "metrics": {"serviceMonitor": {"enabled": True}}}).one(
        CHART
    )["values"]

    assert values["replicas"] == 5
    assert values["metrics"] == {"enabled": True, "serviceMonitor": {"enabled": True}}


def test_outputs_follow_the_names_that_the_chart_gives(run: Run) -> None:
    assert outputs(run, namespace="kuberay") == {
        "namespace": "kuberay",
        "deployment_name": "kuberay-operator",
        "service_account_name": "kuberay-operator",
    }
    renamed = outputs(run, values={"fullnameOverride": "ray", "serviceAccount": {"name": "ray-account"}})
    assert (renamed["deployment_name"], renamed["service_account_name"]) == ("ray", "ray-account")


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ("kuberay-operator", "kuberay-operator")),
        ({"fullnameOverride": ""}, ("kuberay-operator", "kuberay-operator")),
        ({"fullnameOverride": "", "nameOverride": "x"}, ("kuberay-operator-x", "kuberay-operator")),
        ({"fullnameOverride": "ray", "serviceAccount": {"name": ""}}, ("ray", "ray")),
        ({"serviceAccount": {"create": False, "name": ""}}, ("kuberay-operator", "default")),
    ],
)
def test_names_of_the_chart(values: dict[str, Any], names: tuple[str, str]) -> None:
    assert chart_names(values, "kuberay-operator") == names


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


def test_a_container_gets_the_flags_of_the_operator() -> None:
    args = KubeRayOperatorArgs(
        leader_election=False,
        use_kubernetes_proxy=True,
        watch_namespaces=["a", "b"],
        reconcile_concurrency=4,
        env={"A": "1"},
    )
    [container] = container_patch(settings(args))["spec"]["template"]["spec"]["containers"]

    assert container["image"] == "quay.io/kuberay/operator:v1.6.2"
    assert container["args"][0].startswith("--feature-gates=RayClusterStatusConditions=true,")
    assert container["args"][1:] == [
        "--enable-leader-election=false",
        "--use-kubernetes-proxy=true",
        "--enable-metrics=true",
        "--reconcile-concurrency=4",
        "--watch-namespace=a,b",
    ]
    assert container["env"] == [{"name": "A", "value": "1"}]
    assert "resources" not in container


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"chart": HelmChart(), "kustomize": KustomizeFolders(paths=["x"])}, "but both are set"),
        (
            {"kustomize": KustomizeFolders(paths=["x"]), "values": {"a": 1}},
            "has values, which are for the Helm chart",
        ),
        ({"replicas": 0}, "replicas of KubeRayOperator must be 1 or more, but it is 0"),
        ({"replicas": 2, "leader_election": False}, "2 replicas without leader election"),
        ({"reconcile_concurrency": 0}, "reconcile_concurrency of KubeRayOperator must be 1 or more"),
        (
            {"feature_gates": {"SidecarSubmitterRestart": True}},
            "has no feature gate 'SidecarSubmitterRestart'",
        ),
        ({"version": "0.1.0"}, "KubeRay 0.1.0 is not supported"),
    ],
)
def test_arguments_that_cannot_work_are_refused(run: Run, args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        declare(run, **args)


@pytest.mark.parametrize(("paths", "sentence"), [([], "have no path"), (["/nowhere"], "has no kustomization.yaml")])
def test_a_kustomization_that_is_not_there_is_refused(run: Run, paths: list[str], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        declare(run, kustomize=KustomizeFolders(paths=paths))
