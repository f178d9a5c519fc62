"""Git has what a person declares, and nothing that a server or a controller writes."""

from typing import Any

import pytest

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.normal_form import mutated_fields, normal_form
from tests.gitops.stacks import ray_job


def autoscaled(job: dict[str, Any]) -> dict[str, Any]:
    job["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = True
    return job


def test_whole_numbers_are_integers_and_nulls_are_gone() -> None:
    manifest = {"kind": "X", "metadata": {"name": "a"}, "spec": {"n": 3.0, "half": 0.5, "none": None, "l": [1.0, None]}}
    clean, _ = normal_form(manifest)
    assert clean["spec"] == {"n": 3, "half": 0.5, "l": [1]}
    assert isinstance(clean["spec"]["n"], int)


def test_what_a_server_writes_is_left_out() -> None:
    metadata: dict[str, Any] = {
        "name": "a",
        "uid": "1",
        "resourceVersion": "2",
        "creationTimestamp": None,
        "managedFields": [],
        "labels": {},
        "annotations": {"pulumi.com/waitFor": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
    }
    clean, _ = normal_form({"kind": "X", "metadata": metadata, "status": {"phase": "Ready"}})
    assert clean == {"kind": "X", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("suspend", "queued", "kept"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_suspend_stays_only_where_a_person_decides(suspend: bool, queued: bool, kept: bool) -> None:
    job = ray_job(suspend=suspend)
    if not queued:
        del job["metadata"]["labels"]
    clean, left_out = normal_form(job)
    assert ("suspend" in clean["spec"]) is kept
    assert [field.path for field in left_out] == (["spec.suspend"] if suspend and not kept else [])


def test_replicas_of_an_autoscaled_group_are_left_out_and_told() -> None:
    clean, left_out = normal_form(autoscaled(ray_job()))
    (group,) = clean["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert "replicas" not in group
    assert (group["minReplicas"], group["maxReplicas"]) == (0, 2)
    assert [(field.path, field.value) for field in left_out] == [
        ("spec.rayClusterSpec.workerGroupSpecs[0].replicas", 1)
    ]


@pytest.mark.parametrize("kind", ["RayCluster", "RayService"])
def test_clusters_and_services_are_autoscaled_too(kind: str) -> None:
    cluster = autoscaled(ray_job())["spec"]["rayClusterSpec"]
    spec = cluster if kind == "RayCluster" else {"rayClusterConfig": cluster}
    fields = mutated_fields({"apiVersion": "ray.io/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec})
    assert [field.writer for field in fields] == ["The Ray autoscaler"]


def test_replicas_stay_without_autoscaling() -> None:
    clean, left_out = normal_form(ray_job())
    assert clean["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 1
    assert left_out == []


def test_the_object_that_was_given_stays_as_it_was() -> None:
    job = autoscaled(ray_job(suspend=True))
    normal_form(job)
    assert job == autoscaled(ray_job(suspend=True))


def test_a_number_without_a_form_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        normal_form({"kind": "X", "metadata": {"name": "a"}, "spec": {"n": float("nan")}})
