"""`pulumi preview --policy-pack` against a real API server: components' children, charts' objects, unknown values."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from kuberay_e2e.session import Programs, Session
from tests.policies.projects import FORMS, Workspace, workspace

pytestmark = pytest.mark.e2e

PROGRAM = """
import pulumi
from pulumi_kubernetes.helm import v4
from pulumi_kuberay import KubernetesObject, RayJob

def manifest(name, **spec):
    container = {"name": "ray-head", "image": "rayproject/ray:2.52.0"}
    cluster = {"headGroupSpec": {"template": {"spec": {"containers": [container]}}}}
    body = {"entrypoint": "python a.py", "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster, **spec}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata, "spec": body}

RayJob.from_manifest("component", manifest("component", entrypoint="echo a && echo b"))
KubernetesObject("plain", manifest("plain", ttlSecondsAfterFinished=-1))
code = KubernetesObject("code", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code"}})
KubernetesObject("later", manifest("later", jobId=code.id, ttlSecondsAfterFinished=code.id.apply(len)))
v4.Chart("chart", v4.ChartArgs(chart="./chart"))
"""
CHARTED = """
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: charted, namespace: default}
spec:
  submissionMode: HttpMode
  entrypoint: python a.py
  shutdownAfterJobFinishes: true
  rayClusterSpec:
    headGroupSpec: {template: {spec: {containers: [{name: ray-head, image: "rayproject/ray:2.52.0"}]}}}
"""


@pytest.fixture(scope="module")
def space(kuberay_session: Session, kuberay_programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = workspace(tmp_path_factory.mktemp("preview"))
    provider = kuberay_programs.paths["pulumi-resource-kubernetes"]
    folders = (str(Path(sys.executable).parent), str(made.pulumi.parent), str(provider.parent), os.environ["PATH"])
    variables = {
        "PATH": os.pathsep.join(folders),
        "KUBECONFIG": str(kuberay_session.cluster.kubeconfig),
        "KUBECACHEDIR": str(made.folder / "kube-cache"),
    }
    made = dataclasses.replace(made, variables=variables)
    made.write(PROGRAM)
    templates = made.folder / "chart" / "templates"
    templates.mkdir(parents=True)
    (templates.parent / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (templates / "job.yaml").write_text(CHARTED)
    made.settings({"environments": {"dev": {"policies": {"P401": "warning"}}, "prod": {}}})
    assert made.run("stack", "init", "dev").code == 0
    return made


@pytest.mark.parametrize("form", FORMS)
def test_a_preview_is_refused_for_what_it_would_create(space: Workspace, form: str) -> None:
    done = space.run("preview", "--stack", "dev", "--non-interactive", "--policy-pack", str(FORMS[form]))
    said = " ".join(done.output.split())
    assert done.code != 0, done.output
    assert "[mandatory] j4-ttl-negative (kubernetes:ray.io/v1:RayJob: plain)" in said, done.output
    assert "[advisory] u3-shell-entrypoint (kubernetes:ray.io/v1:RayJob: component)" in said
    assert "u1-unknown-mode (kubernetes:ray.io/v1:RayJob: chart:default/charted)" in said
    assert "[advisory] p401-requests-set" in said and "[mandatory] p401" not in said, "the stack is the environment"
    assert said.count("spec.ttlSecondsAfterFinished is known only at deployment") == 1
    assert said.count("spec.jobId is known only at deployment") <= 1
