import json
import runpy
from pathlib import Path

import pulumi
import pytest
from config_errors import ConfigError, placed
from recording_engine import STACKS, Run
from stack_file import StackFile

from pulumi_kuberay import ArgumentError

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rayjobs.ray.io}
spec: {group: ray.io}
"""
JOB = """
apiVersion: v1
kind: ConfigMap
metadata: {name: code}
data: {count.py: print(1)}
---
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {token: hidden}
---
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: counter}
spec:
  entrypoint: python count.py
  shutdownAfterJobFinishes: true
  rayClusterSpec:
    headGroupSpec:
      template: {spec: {containers: [{name: ray-head, image: "rayproject/ray:2.52.0"}]}}
"""


def test_the_program_declares_what_the_configuration_describes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(CRD)
    (tmp_path / "job.yml").write_text(JOB)
    config = {
        "throwaway": True,
        "crds": {"folder": str(tmp_path)},
        "operator": {"namespace": "kuberay"},
        "namespaces": ["ray-jobs"],
        "manifests": [str(tmp_path / "job.yml")],
    }
    pulumi.runtime.set_all_config(
        {"kuberay:namespace": "ray-jobs"} | {f"kuberay:{key}": json.dumps(value) for key, value in config.items()}
    )

    engine = run(lambda: runpy.run_path(str(STACKS / "__main__.py")))

    kubernetes = {(r.typ, r.name) for r in engine.resources if r.typ.startswith("kubernetes:")}
    assert kubernetes == {
        ("kubernetes:core/v1:Namespace", "ray-jobs"),
        ("kubernetes:core/v1:Namespace", "kuberay"),
        ("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", "rayjobs.ray.io"),
        ("kubernetes:helm.sh/v4:Chart", "kuberay-operator"),
        ("kubernetes:core/v1:ConfigMap", "ray-jobs/code"),
        ("kubernetes:core/v1:Secret", "ray-jobs/token"),
        ("kubernetes:ray.io/v1:RayJob", "ray-jobs/counter"),
    }


def test_typed_jobs_are_declared_in_the_namespace_of_the_stack(run: Run) -> None:
    jobs = {"counter": {"entrypoint": "python count.py", "cleanup": {"shutDownAfterSeconds": 60}}}
    pulumi.runtime.set_all_config({"kuberay:namespace": "ray-jobs", "kuberay:rayJobs": json.dumps(jobs)})

    engine = run(lambda: runpy.run_path(str(STACKS / "__main__.py")))

    job = engine.one("kubernetes:ray.io/v1:RayJob")
    assert job["metadata"] == {"name": "counter", "namespace": "ray-jobs"}
    assert job["spec"]["ttlSecondsAfterFinished"] == 60


def test_queues_are_declared_before_the_jobs_that_wait_in_them(run: Run) -> None:
    config = {
        "kueue": {"configuration": {"waitForPodsReady": {"timeoutSeconds": 600}}},
        "flavors": {"spot": {"nodeLabels": {"pool": "spot"}}},
        "cohorts": {"ml": {}},
        "clusterQueues": {
            "team": {
                "cohortName": "ml",
                "resourceGroups": [
                    {"flavors": [{"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "8"}]}]}
                ],
            }
        },
        "localQueues": {"team": {"clusterQueue": "team"}},
        "priorityClasses": {"high": {"value": 1000}},
        "rayClusters": {"shared": {}},
        "rayJobs": {"counter": {"entrypoint": "python count.py", "scheduling": {"queue": {"name": "team"}}}},
    }
    pulumi.runtime.set_all_config({f"kuberay:{key}": json.dumps(value) for key, value in config.items()})

    engine = run(lambda: runpy.run_path(str(STACKS / "__main__.py")))

    kinds = [resource.typ.rpartition(":")[2] for resource in engine.resources if resource.typ.startswith("kubernetes:")]
    assert kinds[:2] == ["Namespace", "Chart"]
    assert sorted(kinds[2:5]) == ["Cohort", "ResourceFlavor", "WorkloadPriorityClass"]
    assert kinds[5:] == ["ClusterQueue", "LocalQueue", "RayCluster", "RayJob"]


def test_namespaces_have_the_labels_of_the_stack(run: Run) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    pulumi.runtime.set_all_config({"kuberay:namespaces": '["a"]', "kuberay:namespaceLabels": json.dumps(labels)})

    engine = run(lambda: runpy.run_path(str(STACKS / "__main__.py")))

    assert engine.one("kubernetes:core/v1:Namespace")["metadata"] == {"name": "a", "labels": labels}


def test_what_a_component_refuses_is_told_with_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text("config:\n  kuberay:operator:\n    metrics: true\n    replicas: 0\n")

    with pytest.raises(ConfigError) as error, placed(StackFile.read(path), "operator"):
        raise ArgumentError("replicas of KubeRayOperator must be 1 or more, but it is 0.")

    assert str(error.value) == (
        "Pulumi.dev.yaml:4: kuberay:operator: replicas of KubeRayOperator must be 1 or more, but it is 0."
    )
