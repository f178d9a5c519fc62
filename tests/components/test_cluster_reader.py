"""The end of a submitter's log, read where Pulumi's provider reads, and a sentence where that cannot be."""

import sys
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from coroutines import run_alone

from kuberay_model.outcome import outcome
from pulumi_kuberay import cluster_reader
from pulumi_kuberay.cluster_reader import ClusterUnreadableError, read, submitter_log, told

OLD = {"metadata": {"name": "old", "creationTimestamp": "2026-01-01T00:00:00Z"}}
NEW = {"metadata": {"name": "new", "creationTimestamp": "2026-01-01T00:01:00Z"}}


def rayjob(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "counter", "namespace": "team"},
        "spec": spec,
        "status": {"jobDeploymentStatus": "Failed", "rayClusterName": "counter-abcde"},
    }


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, str]]]:
    """What the API server of a cluster with two submitter pods was asked for."""
    requests: list[tuple[str, dict[str, str]]] = []

    async def get(_: str, namespace: str, path: str, **query: str) -> httpx.Response:
        assert namespace == "team"
        requests.append((path, query))
        if path == "pods":
            return httpx.Response(200, json={"items": [NEW, OLD]})
        return httpx.Response(200, text="first\nlast\n")

    monkeypatch.setattr(cluster_reader, "_get", get)
    return requests


def log_of(job: dict[str, Any]) -> Sequence[str]:
    return run_alone(submitter_log(job, 5))


@pytest.mark.parametrize(
    ("spec", "selector", "container"),
    [
        ({}, "job-name=counter", "ray-job-submitter"),
        (
            {"submitterPodTemplate": {"spec": {"containers": [{"name": "submit"}]}}},
            "job-name=counter",
            "submit",
        ),
        (
            {"submissionMode": "SidecarMode"},
            "ray.io/cluster=counter-abcde,ray.io/node-type=head",
            "ray-job-submitter",
        ),
    ],
)
def test_the_log_is_that_of_the_newest_submitter(
    asked: list[tuple[str, dict[str, str]]], spec: dict[str, Any], selector: str, container: str
) -> None:
    assert log_of(rayjob(**spec)) == ["first", "last"]
    assert asked == [
        ("pods", {"labelSelector": selector}),
        ("pods/new/log", {"container": container, "tailLines": "5"}),
    ]


@pytest.mark.parametrize("mode", ["HTTPMode", "InteractiveMode"])
def test_a_mode_without_a_submitter_has_no_log(asked: list[tuple[str, dict[str, str]]], mode: str) -> None:
    assert log_of(rayjob(submissionMode=mode)) == ()
    assert asked == []


@pytest.mark.parametrize("answer", [httpx.Response(403), httpx.Response(200, json={"items": []})])
def test_a_submitter_that_is_gone_has_no_log(monkeypatch: pytest.MonkeyPatch, answer: httpx.Response) -> None:
    async def get(*_: str, **__: str) -> httpx.Response:
        return answer

    monkeypatch.setattr(cluster_reader, "_get", get)
    assert log_of(rayjob()) == ()


def test_a_log_that_cannot_be_read_does_not_hide_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kr8s", None)

    sentence, lines = run_alone(told(outcome(rayjob()), rayjob(), 5))
    assert sentence == (
        "RayJob counter failed. Its log is not shown: the package kr8s is not installed; install it to have it here."
    )
    assert lines == ()


@pytest.mark.parametrize(
    ("answer", "found"),
    [(httpx.Response(404), None), (httpx.Response(200, json={"kind": "ConfigMap"}), {"kind": "ConfigMap"})],
)
def test_an_object_is_there_or_not(
    monkeypatch: pytest.MonkeyPatch, answer: httpx.Response, found: dict[str, str] | None
) -> None:
    async def get(*_: str, **__: str) -> httpx.Response:
        return answer

    monkeypatch.setattr(cluster_reader, "_get", get)
    assert run_alone(read("v1", "team", "configmaps/counter-run")) == found


def test_an_object_that_may_not_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    async def get(*_: str, **__: str) -> httpx.Response:
        return httpx.Response(403)

    monkeypatch.setattr(cluster_reader, "_get", get)
    with pytest.raises(ClusterUnreadableError, match="answered 403 to a request for configmaps/counter-run in team"):
        run_alone(read("v1", "team", "configmaps/counter-run"))
