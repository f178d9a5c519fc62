"""A RayJob's health says what the components say, whatever its status."""

import itertools
from typing import Any

import pytest

from kuberay_e2e.gitops.health import documents
from kuberay_e2e.gitops.health.rayjob import GRADES
from kuberay_model.outcome import Kind, outcome
from kuberay_model.states import JobDeploymentStatus, JobStatus
from tests.gitops.evaluators import argocd, flux

SCRIPT = documents.argocd()["data"]["resource.customizations.health.ray.io_RayJob"]
[EXPRESSIONS] = [entry for entry in documents.flux() if entry["kind"] == "RayJob"]
DEPLOYMENTS = [*map(str, JobDeploymentStatus), "Odd"]
JOBS = [*map(str, JobStatus), "ODD"]
TEXTS: list[dict[str, str]] = [
    {},
    {"reason": "AppFailed"},
    {"message": "exit code 1"},
    {"reason": "AppFailed", "message": "exit code 1"},
]
CLUSTERS: list[dict[str, Any]] = [
    {},
    {"rayClusterStatus": {"conditions": [{"type": "HeadPodReady", "status": "False", "reason": "Pending"}]}},
    {
        "rayClusterStatus": {
            "conditions": [
                {"type": "HeadPodReady", "status": "False", "reason": "Pending", "message": "no node"},
                {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"},
            ]
        }
    },
    {"rayClusterStatus": {"conditions": [{"type": "HeadPodReady", "status": "True", "reason": "Ready"}]}},
]


def rayjob(status: dict[str, Any] | None, *, suspend: bool | None = None, **metadata: Any) -> dict[str, Any]:
    item: dict[str, Any] = {"metadata": metadata, "spec": {} if suspend is None else {"suspend": suspend}}
    return item if status is None else {**item, "status": status}


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
def test_both_engines_agree_with_the_outcome(deployment: str) -> None:
    clusters = CLUSTERS if deployment == "Initializing" else CLUSTERS[:1]
    for job, suspend, texts, cluster in itertools.product(JOBS, (None, False, True), TEXTS, clusters):
        item = rayjob({"jobDeploymentStatus": deployment, "jobStatus": job, **texts, **cluster}, suspend=suspend)
        seen = outcome(item)
        grade = GRADES[seen.kind]
        health = argocd(SCRIPT, item)
        assert (health.status, health.message) == (grade.argocd, seen.sentence), item
        assert flux(EXPRESSIONS, item) == grade.flux, item


def test_only_success_is_healthy_and_only_the_end_of_a_job_that_did_not_succeed_is_degraded() -> None:
    assert {kind for kind, grade in GRADES.items() if grade.argocd == "Healthy"} == {Kind.SUCCEEDED}
    assert {kind for kind, grade in GRADES.items() if grade.flux == "Failed"} == {
        Kind.FAILED,
        Kind.STOPPED,
        Kind.INVALID,
    }
    assert set(GRADES) == set(Kind) - {Kind.STUCK}


@pytest.mark.parametrize("status", [None, {}, {"jobStatus": None}])
def test_without_a_status_it_is_on_its_way(status: dict[str, Any] | None) -> None:
    item = rayjob(status)
    assert argocd(SCRIPT, item).status == "Progressing"
    assert flux(EXPRESSIONS, item) == ("Unknown" if status is None else "InProgress")


def test_while_it_is_deleted_it_is_on_its_way_whatever_it_was() -> None:
    done = {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}
    item = rayjob(done, deletionTimestamp="2026-01-01T00:00:00Z")
    assert argocd(SCRIPT, item).status == "Progressing"
    assert flux(EXPRESSIONS, item) == "InProgress"


def test_a_status_of_another_shape_is_no_error() -> None:
    item = rayjob({"jobDeploymentStatus": "Initializing", "jobStatus": "", "rayClusterStatus": {"conditions": []}})
    assert argocd(SCRIPT, item).status == "Progressing"
    assert argocd(SCRIPT, {"metadata": {}, "spec": {}, "status": "odd"}).status == "Progressing"
