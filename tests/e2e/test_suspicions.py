"""What KubeRay does where its user is in its way: no run of the sweep tells it; the track record names these tests."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kuberay_e2e.api import KINDS
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.session import Session
from kuberay_model.outcome import Outcome
from tests.e2e.jobs import PATIENCE, Job, awaited, rayjob

pytestmark = pytest.mark.e2e

SEVERAL_LOOKS = 8.0
"""Seconds in which KubeRay looks at a RayJob twice at least."""

SECRETS = "/api/v1/namespaces/{namespace}/secrets"
JOBS = KINDS["Job"]

OLD_SUBMITTER = "Submitter completed but Ray job not found in RayCluster."
"""What KubeRay says of a submitter that has not submitted the job it looks for."""


@pytest.fixture(autouse=True)
def _operator(kuberay_operator: OperatorProcess) -> None:
    assert kuberay_operator.running


class Api:
    """Requests of a user in one namespace."""

    def __init__(self, session: Session, namespace: str) -> None:
        self._session = session
        self._namespace = namespace

    def create(self, collection: str, manifest: Mapping[str, Any]) -> None:
        with self._session.access.client() as client:
            answer = client.post(collection.format(namespace=self._namespace), json=manifest)
        assert answer.status_code == 201, answer.text

    def delete(self, collection: str, name: str, policy: str = "Background") -> None:
        with self._session.access.client() as client:
            answer = client.request(
                "DELETE",
                f"{collection.format(namespace=self._namespace)}/{name}",
                json={"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy},
            )
        assert answer.is_success, answer.text

    def events(self) -> list[Mapping[str, Any]]:
        with self._session.access.client() as client:
            found: list[Mapping[str, Any]] = client.get(f"/api/v1/namespaces/{self._namespace}/events").json()["items"]
        return found

    def clear_status(self, name: str) -> None:
        path = f"{KINDS['RayJob'].format(namespace=self._namespace)}/{name}"
        with self._session.access.client() as client:
            there = client.get(path).json()
            answer = client.put(f"{path}/status", json={**there, "status": {}})
        assert answer.is_success, answer.text


@pytest.fixture
def api(kuberay_session: Session, kuberay_namespace: str) -> Api:
    return Api(kuberay_session, kuberay_namespace)


def until(holds: Callable[[], object], what: str) -> None:
    awaited(holds, bool, lambda _: f"waited {PATIENCE:.0f} s until {what}")


def test_a_deletion_waits_for_the_secret_of_token_authentication(
    kuberay_session: Session, kuberay_namespace: str, api: Api
) -> None:
    manifest = rayjob(kuberay_namespace, submissionMode="HTTPMode")
    manifest["spec"]["rayClusterSpec"]["authOptions"] = {"mode": "token", "secretName": "missing"}
    job = Job.create(kuberay_session, manifest)
    until(lambda: kuberay_session.reader.list("RayCluster", kuberay_namespace, owner=job.uid), "it has a RayCluster")
    api.delete(KINDS["RayJob"], job.name)
    time.sleep(SEVERAL_LOOKS)
    assert job.read()["metadata"]["finalizers"] == ["ray.io/rayjob-finalizer"]
    assert kuberay_session.reader.list("RayCluster", kuberay_namespace, owner=job.uid)
    api.create(SECRETS, {"metadata": {"name": "missing"}, "stringData": {"auth_token": "token"}})
    job.wait_gone()


def test_a_foreign_job_of_the_name_holds_the_rayjob_until_it_is_deleted(
    kuberay_session: Session, kuberay_namespace: str, api: Api
) -> None:
    container = {"name": "main", "image": "rayproject/ray:2.52.0"}
    api.create(
        JOBS,
        {
            "metadata": {"name": "job"},
            "spec": {
                "suspend": True,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            },
        },
    )
    job = Job.create(kuberay_session, rayjob(kuberay_namespace))

    def refused() -> list[Mapping[str, Any]]:
        return [event for event in api.events() if event["reason"] == "FailedToCreateRayJobSubmitter"]

    until(refused, "an event tells that the submitter cannot be made")
    time.sleep(SEVERAL_LOOKS)
    assert "already exists" in refused()[0]["message"]
    status = job.wait_status("Initializing")
    assert "reason" not in status
    api.delete(JOBS, "job")
    assert job.wait_end().succeeded
    assert job.starts() == 1


def test_a_rayjob_made_anew_under_its_name_runs_afresh(
    kuberay_session: Session, kuberay_namespace: str, api: Api
) -> None:
    first = Job.create(kuberay_session, rayjob(kuberay_namespace))
    assert first.wait_end().succeeded
    api.delete(KINDS["RayJob"], first.name)
    until(lambda: kuberay_session.reader.get("RayJob", kuberay_namespace, first.name) is None, "it is gone")
    second = Job.create(kuberay_session, rayjob(kuberay_namespace))
    assert second.wait_end().succeeded
    assert first.recording().values("jobId") != second.recording().values("jobId")
    assert (first.starts(), second.starts()) == (1, 1)


def test_an_orphaned_submitter_is_taken_for_that_of_the_next_rayjob_of_its_name(
    kuberay_session: Session, kuberay_namespace: str, api: Api
) -> None:
    first = Job.create(kuberay_session, rayjob(kuberay_namespace))
    assert first.wait_end().succeeded
    api.delete(KINDS["RayJob"], first.name, policy="Orphan")
    until(lambda: kuberay_session.reader.get("RayJob", kuberay_namespace, first.name) is None, "it is gone")
    second = Job.create(kuberay_session, rayjob(kuberay_namespace))
    outcome = second.wait_end()
    assert not outcome.succeeded
    assert outcome.message == OLD_SUBMITTER
    assert second.starts() == 0
    api.delete(JOBS, first.name)


def finished_without_its_status(job: Job, api: Api) -> Outcome:
    """How a RayJob ends again after it has succeeded and its status has been taken away, as a restore does."""
    assert job.wait_end().succeeded
    api.clear_status(job.name)
    until(lambda: len(job.recording().values("jobId")) == 2, "it has another jobId")
    again = job.wait_end()
    assert len(set(job.recording().values("rayClusterName"))) == 2
    return again


def test_a_job_of_http_mode_whose_status_is_lost_runs_again(
    kuberay_session: Session, kuberay_namespace: str, api: Api
) -> None:
    job = Job.create(kuberay_session, rayjob(kuberay_namespace, submissionMode="HTTPMode"))
    assert finished_without_its_status(job, api).succeeded
    assert job.starts() == 2


def test_a_job_of_a_submitter_whose_status_is_lost_is_failed_for_its_old_submitter(
    kuberay_session: Session, kuberay_namespace: str, api: Api
) -> None:
    job = Job.create(kuberay_session, rayjob(kuberay_namespace))
    again = finished_without_its_status(job, api)
    assert not again.succeeded
    assert again.message == OLD_SUBMITTER
    assert job.starts() == 1
