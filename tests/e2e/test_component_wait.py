"""`pulumi up` waits for a RayJob where it was told to, and fails at once, with the job's own words, when that fails."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.ray import Script
from kuberay_e2e.session import Session
from kuberay_model.outcome import Kind, outcome
from tests.e2e.conftest import Scripted

pytestmark = pytest.mark.e2e

Up = Callable[..., dict[str, Any]]
TIMEOUT = 240


@pytest.fixture
def config(kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str) -> Iterator[Up]:
    """The configuration of a stack with the one RayJob `job`, waited for."""
    assert kuberay_operator.running

    def configured(entrypoint: str, until: str, **args: Any) -> dict[str, Any]:
        job = {"entrypoint": entrypoint, "wait": {"until": until, "timeoutSeconds": TIMEOUT}, **args}
        return {"namespace": kuberay_namespace, "rayJobs": {"job": job}}

    yield configured
    kuberay_session.stacks.jobs.apply({})


def kind(session: Session, namespace: str) -> Kind:
    found = session.reader.get("RayJob", namespace, "job")
    assert found is not None
    return outcome(found).kind


def failed_up(session: Session, config: dict[str, Any]) -> str:
    """What Pulumi said when an update failed, whole."""
    with pytest.raises(HarnessError) as error:
        session.stacks.jobs.apply(config)
    return str(error.value.__cause__)


def test_up_ends_when_the_job_has_succeeded(kuberay_session: Session, kuberay_namespace: str, config: Up) -> None:
    kuberay_session.stacks.jobs.apply(config("python quick.py", "finished"))

    assert kind(kuberay_session, kuberay_namespace) is Kind.SUCCEEDED


def test_up_ends_when_ray_has_the_job(
    kuberay_session: Session, kuberay_namespace: str, config: Up, scripted: Scripted
) -> None:
    scripted("python long.py", Script(duration=600.0))

    kuberay_session.stacks.jobs.apply(config("python long.py", "submitted"))

    assert kind(kuberay_session, kuberay_namespace) is Kind.RUNNING


def test_up_fails_at_once_with_the_job_s_own_words(
    kuberay_session: Session, kuberay_namespace: str, config: Up, scripted: Scripted
) -> None:
    scripted("python fails.py", Script(duration=0.5, end="FAILED", output=("KeyError: 'the job`s own words'",)))
    started = time.monotonic()

    said = failed_up(kuberay_session, config("python fails.py", "finished"))

    assert time.monotonic() - started < TIMEOUT
    assert "RayJob job failed with reason AppFailed" in said
    assert "KeyError: 'the job`s own words'" in said
    assert "Traceback (most recent call last)" not in said

    kuberay_session.stacks.jobs.preview(config("python fails.py", "finished"))
    assert "failed with reason AppFailed" in failed_up(kuberay_session, config("python fails.py", "finished"))
    kuberay_session.stacks.jobs.apply(config("python mended.py", "finished"))
    assert kind(kuberay_session, kuberay_namespace) is Kind.SUCCEEDED
