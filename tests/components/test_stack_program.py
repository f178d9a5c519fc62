import json
import runpy
from pathlib import Path

import pulumi
from recording_engine import STACKS, Run

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
