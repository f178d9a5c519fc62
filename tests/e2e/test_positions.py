"""The operator is disturbed at a write, at each position, and the RayJob comes through as if nothing had happened."""

from collections.abc import Iterator

import pytest

from kuberay_e2e.gateway import Fault
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.session import Session
from tests.e2e.jobs import PATIENCE, Job, rayjob

pytestmark = pytest.mark.e2e

WRITES = {
    "update:RayJob:+ray.io/rayjob-finalizer@before": "K8sJobMode",
    "update:RayJob/status:jobDeploymentStatus=Initializing@committed": "K8sJobMode",
    "create:RayCluster@lost": "K8sJobMode",
    "create:Pod@committed": "K8sJobMode",
    "create:Job@before": "K8sJobMode",
    "create:Job@committed": "K8sJobMode",
    "create:Job@lost": "K8sJobMode",
    "create:Job@after": "K8sJobMode",
    "update:RayJob/status:jobDeploymentStatus=Running@committed": "K8sJobMode",
    "update:RayJob/status:jobDeploymentStatus=Complete@before": "K8sJobMode",
    "submit:RayJobs@before": "HTTPMode",
    "submit:RayJobs@after": "HTTPMode",
}


@pytest.fixture
def armed(
    kuberay_session: Session, kuberay_operator: OperatorProcess, request: pytest.FixtureRequest
) -> Iterator[Fault]:
    assert kuberay_operator.running
    fault = parse(request.param)
    kuberay_session.arm(fault)
    yield fault
    kuberay_session.disarm(fault)


@pytest.mark.parametrize(("armed", "mode"), WRITES.items(), ids=WRITES.keys(), indirect=["armed"])
def test_recovery(kuberay_session: Session, kuberay_namespace: str, armed: Fault, mode: str) -> None:
    operator = kuberay_session.operator
    before = operator.incarnation
    job = Job.create(kuberay_session, rayjob(kuberay_namespace, submissionMode=mode))
    assert armed.fired.wait(PATIENCE), f"the operator never made the write {armed.write}"
    if armed.position.kills:
        operator.wait_killed()
        assert not operator.running
        kuberay_session.start_operator()
        assert operator.incarnation == before + 1
    outcome = job.wait_end()
    assert outcome.succeeded, outcome.sentence
    job.delete()
    assert job.judge(has_submitter=mode == "K8sJobMode") == []
