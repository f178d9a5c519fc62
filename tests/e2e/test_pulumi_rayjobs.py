"""RayJobs as `pulumi up`, `preview`, `refresh` and `destroy` treat them on a real API server with a real operator."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml

from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.ray import Script
from kuberay_e2e.session import Session
from kuberay_e2e.stack import PulumiStack
from tests.e2e.conftest import Scripted
from tests.e2e.jobs import Job, rayjob

pytestmark = pytest.mark.e2e

RAYJOB = "kubernetes:ray.io/v1:RayJob"
SHUT_DOWN: Mapping[str, Any] = {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 1}

Configured = Callable[..., Mapping[str, Any]]


@pytest.fixture
def stack(kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str) -> PulumiStack:
    """A stack of the test's own."""
    assert kuberay_operator.running
    return kuberay_session.stack(kuberay_namespace)


@pytest.fixture
def configured(kuberay_namespace: str, tmp_path: Path) -> Configured:
    """The stack's configuration for some RayJobs in the test's namespace."""

    def configure(*rayjobs: Mapping[str, Any]) -> Mapping[str, Any]:
        (tmp_path / "jobs.yaml").write_text(yaml.safe_dump_all(rayjobs))
        return {"namespace": kuberay_namespace, "manifests": [str(tmp_path / "jobs.yaml")]}

    return configure


def test_an_edit_of_the_entrypoint_is_one_more_run(
    kuberay_session: Session, kuberay_namespace: str, stack: PulumiStack, configured: Configured
) -> None:
    before = configured(rayjob(kuberay_namespace, entrypoint="python first.py", **SHUT_DOWN))
    stack.apply(before)
    first = Job.find(kuberay_session, kuberay_namespace)
    assert first.wait_end().succeeded
    assert set(stack.apply(before).resources) == {"unchanged"}

    after = configured(rayjob(kuberay_namespace, entrypoint="python second.py", **SHUT_DOWN))
    assert [step.operation for step in stack.preview(after) if step.type == RAYJOB] == ["replace"]
    assert first.read()["spec"]["entrypoint"] == "python first.py", "a preview changes nothing"

    assert stack.apply(after).resources["replaced"] == 1
    second = Job.find(kuberay_session, kuberay_namespace)
    assert second.uid != first.uid
    assert second.read()["spec"]["entrypoint"] == "python second.py"
    assert second.wait_end().succeeded
    first.wait_gone()
    assert first.judge() == []
    assert (first.starts(), second.starts()) == (1, 1)


def test_an_edit_of_a_deadline_runs_nothing_again(
    kuberay_session: Session, kuberay_namespace: str, stack: PulumiStack, configured: Configured
) -> None:
    stack.apply(configured(rayjob(kuberay_namespace, activeDeadlineSeconds=600, **SHUT_DOWN)))
    job = Job.find(kuberay_session, kuberay_namespace)
    assert job.wait_end().succeeded
    change = stack.apply(configured(rayjob(kuberay_namespace, activeDeadlineSeconds=900, **SHUT_DOWN)))
    assert change.resources["updated"] == 1
    assert "replaced" not in change.resources
    assert job.read()["spec"]["activeDeadlineSeconds"] == 900
    assert (job.read()["metadata"]["uid"], job.starts()) == (job.uid, 1)


def test_a_finished_job_whose_cluster_has_gone_is_not_run_again(
    kuberay_session: Session, kuberay_namespace: str, stack: PulumiStack, configured: Configured
) -> None:
    config = configured(rayjob(kuberay_namespace, **SHUT_DOWN))
    stack.apply(config)
    job = Job.find(kuberay_session, kuberay_namespace)
    assert job.wait_end().succeeded
    job.wait_cluster_gone()
    stack.refresh()
    assert set(stack.apply(config).resources) == {"unchanged"}
    assert Job.find(kuberay_session, kuberay_namespace).uid == job.uid
    assert job.starts() == 1


DELETED_BY_KUBERAY = {"deletionRules": [{"policy": "DeleteSelf", "jobStatus": "SUCCEEDED", "ttlSeconds": 0}]}


@pytest.mark.parametrize(
    ("cleanup", "by_hand"),
    [({"shutDownAfterSeconds": 600}, True), (DELETED_BY_KUBERAY, False)],
    ids=["by hand", "by a rule DeleteSelf"],
)
def test_a_recorded_run_is_not_repeated_when_its_rayjob_was_deleted(
    kuberay_session: Session,
    kuberay_namespace: str,
    stack: PulumiStack,
    scripted: Scripted,
    cleanup: Mapping[str, Any],
    by_hand: bool,
) -> None:
    over = Event()
    scripted("python recorded.py", Script(duration=0.1, until=over))
    declared = {"entrypoint": "python recorded.py", "recordRun": True, "cleanup": cleanup}
    config = {"namespace": kuberay_namespace, "rayJobs": {"job": declared}}
    stack.apply(config)
    job = Job.find(kuberay_session, kuberay_namespace)
    job.wait_status("Running")
    over.set()
    if by_hand:
        assert job.wait_end().succeeded
        job.delete()
    else:
        job.wait_gone()
    stack.refresh()
    stack.apply(config)
    assert kuberay_session.reader.get("RayJob", kuberay_namespace, "job") is None
    assert set(stack.apply(config).resources) == {"unchanged"}
    assert job.starts() == 1

    stack.apply({**config, "rayJobs": {"job": {**declared, "run": "again"}}})
    again = Job.find(kuberay_session, kuberay_namespace)
    again.wait_start()
    assert again.uid != job.uid
    assert (job.starts(), again.starts()) == (1, 1)


def test_destroy_ends_running_jobs_and_leaves_nothing(
    kuberay_session: Session, kuberay_namespace: str, stack: PulumiStack, configured: Configured, scripted: Scripted
) -> None:
    scripted("python long.py", Script(duration=600.0))
    names = ("one", "two")
    stack.apply(configured(*(rayjob(kuberay_namespace, name, entrypoint="python long.py") for name in names)))
    jobs = [Job.find(kuberay_session, kuberay_namespace, name) for name in names]
    for job in jobs:
        job.wait_status("Running")
    assert stack.destroy().resources["deleted"] >= len(jobs)
    for job in jobs:
        job.wait_gone()
        assert len(job.recording().uids("RayCluster")) == 1
    for kind in ("RayJob", "RayCluster", "Job", "Pod", "Service"):
        assert kuberay_session.reader.list(kind, kuberay_namespace) == [], kind
