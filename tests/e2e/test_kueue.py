"""RayJobs in a queue: real Kueue, applied by Pulumi, suspends and admits them, and gets its quota back."""

import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml

from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.ray import Script
from kuberay_e2e.session import Session
from tests.e2e.conftest import Scripted
from tests.e2e.jobs import PATIENCE, Job, rayjob

pytestmark = pytest.mark.e2e

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


def queued(namespace: str, name: str, entrypoint: str) -> dict[str, Any]:
    """A RayJob that asks for two CPUs, and half a CPU for its submitter, in the queue of its namespace."""
    job = rayjob(namespace, name, entrypoint=entrypoint, shutdownAfterJobFinishes=True)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "queue"}
    cluster = job["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        [container] = group["template"]["spec"]["containers"]
        group["template"]["spec"]["containers"] = [{**container, "resources": {"requests": {"cpu": "1"}}}]
    return job


def queue_config(namespace: str, cpus: str, *rayjobs: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A stack with a queue of its own and some RayJobs in it."""
    (folder / "jobs.yaml").write_text(yaml.safe_dump_all(rayjobs))
    resources = [{"name": "cpu", "nominalQuota": cpus}, {"name": "memory", "nominalQuota": "16Gi"}]
    return {
        "namespace": namespace,
        "flavors": {namespace: {}},
        "clusterQueues": {
            namespace: {
                "namespaces": [namespace],
                "resourceGroups": [{"flavors": [{"name": namespace, "resources": resources}]}],
            }
        },
        "localQueues": {"queue": {"clusterQueue": namespace}},
        "manifests": [str(folder / "jobs.yaml")],
    }


def admitted(session: Session, job: Job) -> bool:
    """Whether Kueue has admitted the workload of a RayJob."""
    workloads = session.reader.list("Workload", job.namespace, owner=job.uid)
    conditions = [item for found in workloads for item in (found.get("status") or {}).get("conditions") or ()]
    return any(item["type"] == "Admitted" and item["status"] == "True" for item in conditions)


def cpus_in_use(session: Session, cluster_queue: str) -> str:
    """CPUs of the queue's quota that are taken."""
    with session.access.client() as client:
        status = client.get(f"{KUEUE}/clusterqueues/{cluster_queue}").json().get("status") or {}
    flavors = status.get("flavorsUsage") or [{"resources": []}]
    return str({item["name"]: item["total"] for item in flavors[0]["resources"]}.get("cpu"))


def wait_cpus(session: Session, cluster_queue: str, expected: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while (seen := cpus_in_use(session, cluster_queue)) != expected:
        assert time.monotonic() < deadline, f"expected {expected} CPUs in use, saw {seen}"
        time.sleep(0.1)


def test_one_runs_while_the_other_waits_and_drift_of_admission_is_none(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_kueue: KueueRunner,
    kuberay_namespace: str,
    scripted: Scripted,
    tmp_path: Path,
) -> None:
    assert kuberay_operator.running
    assert kuberay_kueue.ready == 1
    over = Event()
    scripted("python first.py", Script(duration=0.5, until=over))
    jobs = [queued(kuberay_namespace, name, f"python {name}.py") for name in ("first", "second")]
    stack = kuberay_session.stack(kuberay_namespace)
    stack.apply(queue_config(kuberay_namespace, "3", jobs[0], folder=tmp_path))
    first = Job.find(kuberay_session, kuberay_namespace, "first")
    first.wait_status("Running")
    assert not first.read()["spec"].get("suspend")
    assert admitted(kuberay_session, first)
    wait_cpus(kuberay_session, kuberay_namespace, "2500m")

    config = queue_config(kuberay_namespace, "3", *jobs, folder=tmp_path)
    assert stack.apply(config).resources["created"] >= 1
    second = Job.find(kuberay_session, kuberay_namespace, "second")
    assert second.read()["spec"]["suspend"] is True
    second.wait_status("Suspended")
    assert not admitted(kuberay_session, second)
    stack.refresh()
    assert set(stack.apply(config).resources) == {"unchanged"}
    assert not first.read()["spec"].get("suspend"), "an update must not suspend what Kueue has admitted"

    over.set()
    assert first.wait_end().succeeded
    assert second.wait_end().succeeded
    assert (first.starts(), second.starts()) == (1, 1)
    wait_cpus(kuberay_session, kuberay_namespace, "0")
    stack.destroy()
    for job in (first, second):
        job.wait_gone()


def test_a_rayjob_that_kueue_refuses_is_told_by_its_webhook(
    kuberay_session: Session, kuberay_kueue: KueueRunner, kuberay_namespace: str
) -> None:
    assert kuberay_kueue.ready == 1
    job = queued(kuberay_namespace, "kept", "python kept.py")
    del job["spec"]["shutdownAfterJobFinishes"]
    with kuberay_session.access.client() as client:
        answer = client.post(f"/apis/ray.io/v1/namespaces/{kuberay_namespace}/rayjobs", json=job)
    assert not answer.is_success
    assert "vrayjob.kb.io" in answer.text
    assert "shutdownAfterJobFinishes" in answer.text


def test_aggregated_apis_are_served_by_the_same_process(kuberay_session: Session, kuberay_kueue: KueueRunner) -> None:
    assert kuberay_kueue.ready == 1
    with kuberay_session.access.client() as client:
        path = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.visibility.kueue.x-k8s.io"
        deadline = time.monotonic() + PATIENCE
        while True:
            conditions = (client.get(path).json().get("status") or {}).get("conditions") or ()
            if any(item["type"] == "Available" and item["status"] == "True" for item in conditions):
                break
            assert time.monotonic() < deadline, conditions
            time.sleep(0.2)
        started = time.monotonic()
        answer = client.get("/apis/visibility.kueue.x-k8s.io/v1beta2")
    assert answer.is_success, answer.text
    assert time.monotonic() - started < 5
    assert "clusterqueues" in answer.text
