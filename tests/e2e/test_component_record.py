"""A RayJob that KubeRay deletes itself is not run again by a refresh and an update, because its run is recorded."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.session import Session
from kuberay_e2e.stack import Change
from tests.e2e.jobs import PATIENCE

pytestmark = pytest.mark.e2e

DELETE_SELF = {"deletionRules": [{"policy": "DeleteSelf", "jobStatus": "SUCCEEDED"}]}


@pytest.fixture
def _clean(kuberay_session: Session) -> Iterator[None]:
    yield
    kuberay_session.stacks.jobs.apply({})


@pytest.mark.usefixtures("_clean")
def test_a_job_that_is_gone_is_not_run_again(
    kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str
) -> None:
    assert kuberay_operator.running

    def up(**args: Any) -> Change:
        job = {"entrypoint": "python main.py", "cleanup": DELETE_SELF, "recordRun": True, **args}
        return kuberay_session.stacks.jobs.apply({"namespace": kuberay_namespace, "rayJobs": {"job": job}})

    def wait_gone() -> None:
        deadline = time.monotonic() + PATIENCE
        while (found := kuberay_session.reader.get("RayJob", kuberay_namespace, "job")) is not None:
            assert time.monotonic() < deadline, found.get("status")
            time.sleep(0.2)

    assert up().resources["created"] >= 3
    wait_gone()

    kuberay_session.stacks.jobs.refresh()
    assert "created" not in up().resources
    assert kuberay_session.reader.get("RayJob", kuberay_namespace, "job") is None

    assert up(run="2").resources["created"] == 1
    wait_gone()
