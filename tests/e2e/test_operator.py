"""The operator runs as the Deployment says, under its own ServiceAccount, and reaches the API through the gateway."""

import pytest

from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.ray import Script
from kuberay_e2e.session import OPERATOR, OPERATOR_NAMESPACE, Session
from tests.e2e.conftest import Scripted
from tests.e2e.jobs import Job, rayjob

pytestmark = pytest.mark.e2e


def test_arguments_are_the_deployments(kuberay_session: Session, kuberay_operator: OperatorProcess) -> None:
    assert kuberay_operator.running
    deployment = kuberay_session.reader.get("Deployment", OPERATOR_NAMESPACE, OPERATOR)
    assert deployment is not None
    args = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    started = [event for event in kuberay_session.trace.events("operator") if event.data["event"] == "started"]
    assert started[-1].data["args"] == args
    assert "--use-kubernetes-proxy=true" in args


def test_rbac_is_that_of_the_service_account(kuberay_session: Session, kuberay_namespace: str) -> None:
    user = f"system:serviceaccount:{OPERATOR_NAMESPACE}:{OPERATOR}"
    job = Job.create(kuberay_session, rayjob(kuberay_namespace))
    job.wait_end()
    path = f"/apis/ray.io/v1/namespaces/{kuberay_namespace}/rayjobs/{job.name}"
    with kuberay_session.access.client() as client:
        review = client.post(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            json={
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {"user": user, "resourceAttributes": {"verb": "create", "resource": "clusterroles"}},
            },
        ).json()
        managers = {entry["manager"] for entry in client.get(path).json()["metadata"]["managedFields"]}
    assert review["status"]["allowed"] is False
    assert any("ray-operator" in manager or "kuberay" in manager for manager in managers), managers


def test_a_failed_job_is_told_with_ray_s_reason(
    kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str, scripted: Scripted
) -> None:
    assert kuberay_operator.running
    scripted("python fails.py", Script(duration=0.5, end="FAILED", output=("the job's own words",)))
    job = Job.create(kuberay_session, rayjob(kuberay_namespace, entrypoint="python fails.py"))
    outcome = job.wait_end()
    assert not outcome.succeeded
    assert "AppFailed" in outcome.reason
    [pod] = kuberay_session.reader.list("Pod", kuberay_namespace, selector=f"job-name={job.name}")[:1]
    assert "the job's own words" in kuberay_session.reader.log(kuberay_namespace, pod["metadata"]["name"])


def test_each_incarnation_has_a_log_of_its_own(kuberay_session: Session, kuberay_operator: OperatorProcess) -> None:
    first = kuberay_operator.incarnation
    kuberay_operator.kill()
    assert not kuberay_operator.running
    kuberay_session.start_operator()
    assert kuberay_operator.incarnation == first + 1
    assert "Setup manager" in kuberay_operator.log(first).read_text()
    assert "Setup manager" in kuberay_operator.log(first + 1).read_text()
