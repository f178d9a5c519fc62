"""The environments in the repository, run as their stacks run, against a recording engine."""

import json
import runpy
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from recording_engine import STACKS, Engine, Run

from pulumi_kuberay.quantities import quantity

ENVIRONMENTS = ("dev", "staging", "prod", "kind")
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rayjobs.ray.io}
spec: {group: ray.io}
"""
KUEUE_VALUES = """
managerConfig:
  controllerManagerConfigYaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    integrations: {frameworks: [ray.io/rayjob, ray.io/raycluster]}
"""
JOB = "kubernetes:ray.io/v1:RayJob"
CLUSTER_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
LOCAL_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue"

Environment = Callable[[str], Engine]


@pytest.fixture
def environment(run: Run, tmp_path: Path) -> Environment:
    """Run the stack of an environment with charts on this machine."""
    (tmp_path / "kuberay-operator" / "crds").mkdir(parents=True)
    (tmp_path / "kuberay-operator" / "Chart.yaml").touch()
    (tmp_path / "kuberay-operator" / "crds" / "crd.yaml").write_text(CRD)
    (tmp_path / "kueue").mkdir()
    (tmp_path / "kueue" / "values.yaml").write_text(KUEUE_VALUES)

    def run_stack(name: str) -> Engine:
        config = configuration(name) | {"kuberay:charts": str(tmp_path)}
        pulumi.runtime.set_all_config(
            {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
        )
        return run(lambda: runpy.run_path(str(STACKS / "__main__.py")))

    return run_stack


def configuration(name: str) -> dict[str, Any]:
    content = yaml.safe_load((STACKS / f"Pulumi.{name}.yaml").read_text(encoding="utf-8"))
    return dict(content["config"])


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_stack_has_the_whole_platform(environment: Environment, name: str) -> None:
    engine = environment(name)

    kinds = {resource.typ.rpartition(":")[2] for resource in engine.resources if resource.typ.startswith("kubernetes:")}
    assert {"CustomResourceDefinition", "Namespace", "Chart", "ResourceFlavor", "ClusterQueue", "LocalQueue"} <= kinds


@pytest.mark.parametrize("name", ["dev", "staging", "kind"])
def test_a_job_fits_into_its_queue(environment: Environment, name: str) -> None:
    engine = environment(name)

    for job in engine.inputs(JOB):
        quota, wanted = quotas(engine, job["metadata"]), requests(job["spec"])
        for resource, amount in wanted.items():
            assert amount <= quota[resource], f"{job['metadata']['name']} asks for {amount} of {resource}"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_queue_leads_to_a_cluster_queue_that_lets_its_namespace_in(environment: Environment, name: str) -> None:
    engine = environment(name)

    namespaces = {item["metadata"]["name"] for item in engine.inputs("kubernetes:core/v1:Namespace")}
    admitted = {
        item["metadata"]["name"]: item["spec"]["namespaceSelector"]["matchExpressions"][0]["values"]
        for item in engine.inputs(CLUSTER_QUEUE)
    }
    for queue in engine.inputs(LOCAL_QUEUE):
        assert queue["metadata"]["namespace"] in namespaces
        assert queue["metadata"]["namespace"] in admitted[queue["spec"]["clusterQueue"]]


def test_prod_alone_is_protected_and_runs_the_proven_releases() -> None:
    configured = {name: configuration(name) for name in ENVIRONMENTS}

    assert [name for name, config in configured.items() if config.get("kuberay:protect")] == ["prod"]
    assert configured["staging"]["kuberay:versions"] == configured["prod"]["kuberay:versions"]
    assert configured["dev"]["kuberay:versions"]["kuberay"] > configured["prod"]["kuberay:versions"]["kuberay"]
    assert not any(config.get("kuberay:throwaway") for config in configured.values())


def quotas(engine: Engine, job: Mapping[str, Any]) -> dict[str, Decimal]:
    """The most of each resource that one flavor of a job's queue has."""
    name, namespace = job["labels"]["kueue.x-k8s.io/queue-name"], job["namespace"]
    [entrance] = [
        queue for queue in engine.inputs(LOCAL_QUEUE) if queue["metadata"] == {"name": name, "namespace": namespace}
    ]
    [queue] = [
        item for item in engine.inputs(CLUSTER_QUEUE) if item["metadata"]["name"] == entrance["spec"]["clusterQueue"]
    ]
    most: dict[str, Decimal] = {}
    for group in queue["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            for item in flavor["resources"]:
                amount = Decimal(quantity(item["nominalQuota"]) or 0)
                most[item["name"]] = max(amount, most.get(item["name"], Decimal(0)))
    return most


def requests(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """What head, workers and submitter of a job ask for together."""
    cluster = spec["rayClusterSpec"]
    submitter = spec.get("submitterPodTemplate")
    pods = [
        (1, cluster["headGroupSpec"]["template"]),
        *((group["replicas"], group["template"]) for group in cluster["workerGroupSpecs"]),
        *([(1, submitter)] if submitter else []),
    ]
    total: dict[str, Decimal] = {}
    for count, pod in pods:
        for container in pod["spec"]["containers"]:
            for resource, amount in container["resources"]["requests"].items():
                total[resource] = total.get(resource, Decimal(0)) + int(count) * Decimal(quantity(amount) or 0)
    return total
