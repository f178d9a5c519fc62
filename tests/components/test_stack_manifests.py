from pathlib import Path

import pulumi
import pytest
from stack_manifests import StackManifests, resource_name

FILE = """
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: counter}
spec: {}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: code, namespace: elsewhere}}
  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}}
---
---
apiVersion: v1
kind: Namespace
metadata: {name: elsewhere}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(FILE)
    return path


def test_objects_are_sorted_into_what_comes_first(file: Path) -> None:
    manifests = StackManifests.read([file], "ray-jobs")

    assert [item["kind"] for item in manifests.namespaces] == ["Namespace"]
    assert [item["kind"] for item in manifests.settings] == ["ConfigMap", "ClusterRole"]
    assert [item["kind"] for item in manifests.ray] == ["RayJob"]


def test_namespaced_objects_without_a_namespace_get_the_one_of_the_stack(file: Path) -> None:
    manifests = StackManifests.read([file], "ray-jobs")

    assert [resource_name(item) for item in manifests.settings] == ["elsewhere/code", "reader"]
    assert [resource_name(item) for item in manifests.ray] == ["ray-jobs/counter"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "is not valid YAML"),
        ("- 1", "is not a Kubernetes object with apiVersion, kind and metadata.name"),
        ("{apiVersion: v1, kind: ConfigMap, metadata: {}}", "is not a Kubernetes object"),
        (
            "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}",
            "hold the CRD x; CRDs of KubeRay belong to kuberay:crds",
        ),
        (
            "{apiVersion: v1, kind: Secret, metadata: {name: x}}\n---\n"
            "{apiVersion: v1, kind: Secret, metadata: {name: x, namespace: ray-jobs}}",
            "hold v1 Secret ray-jobs/x twice",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(pulumi.RunError, match=sentence):
        StackManifests.read([path], "ray-jobs")


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(pulumi.RunError, match=r"'nowhere.yaml' of kuberay:manifests cannot be read: No such file"):
        StackManifests.read([Path("nowhere.yaml")], "default")
