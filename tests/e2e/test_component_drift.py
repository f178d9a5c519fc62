"""What others change in a RayJob does not run it again, and what its owner changes does exactly what was asked."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kuberay_e2e.api import KINDS
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.session import Session
from kuberay_e2e.stack import Change
from tests.e2e.jobs import Job

pytestmark = pytest.mark.e2e

Declare = Callable[..., tuple[Job, Change]]


@pytest.fixture
def declare(kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str) -> Iterator[Declare]:
    """Declares the RayJob `job` with typed arguments, applies the stack, and returns it and what Pulumi did."""
    assert kuberay_operator.running

    def declared(**args: Any) -> tuple[Job, Change]:
        small = {"name": "small", "replicas": 1, "maxReplicas": 4}
        job = {"entrypoint": "python main.py", "cluster": {"workers": [small]}, **args}
        change = kuberay_session.stacks.jobs.apply({"namespace": kuberay_namespace, "rayJobs": {"job": job}})
        found = kuberay_session.reader.get("RayJob", kuberay_namespace, "job")
        assert found is not None
        return Job(kuberay_session, kuberay_namespace, "job", found["metadata"]["uid"]), change

    yield declared
    kuberay_session.stacks.jobs.apply({})


def place_as_kueue_does(job: Job) -> None:
    """Write what Kueue writes into a RayJob when it admits it, and scale a worker group by hand."""
    changed = dict(job.read())
    spec = changed["spec"]
    spec["suspend"] = False
    cluster = spec["rayClusterSpec"]
    templates = [cluster["headGroupSpec"]["template"], cluster["workerGroupSpecs"][0]["template"]]
    for template in (*templates, spec["submitterPodTemplate"]):
        template["spec"]["nodeSelector"] = {"pool": "a"}
        template["spec"]["tolerations"] = [{"key": "pool", "operator": "Exists"}]
        template["metadata"] = {"labels": {"kueue.x-k8s.io/podset": "main"}}
    cluster["workerGroupSpecs"][0]["replicas"] = 3
    path = f"{KINDS['RayJob'].format(namespace=job.namespace)}/{job.name}"
    with job.session.access.client() as client:
        client.put(path, json=changed).raise_for_status()


def test_drift_changes_nothing_and_an_edit_does_what_it_says(kuberay_session: Session, declare: Declare) -> None:
    first, _ = declare()
    assert first.wait_end().succeeded
    place_as_kueue_does(first)

    sooner, _ = declare(cleanup={"shutDownAfterSeconds": 600})
    assert sooner.uid == first.uid
    assert sooner.read()["spec"]["ttlSecondsAfterFinished"] == 600
    assert sooner.read()["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 3

    kuberay_session.stacks.jobs.refresh()
    again, change = declare(cleanup={"shutDownAfterSeconds": 600})
    assert set(change.resources) == {"unchanged"}
    assert again.uid == first.uid

    longer, _ = declare(cleanup={"shutDownAfterSeconds": 900})
    assert longer.uid == first.uid
    spec = longer.read()["spec"]
    assert spec["ttlSecondsAfterFinished"] == 900
    assert spec["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 3
    assert spec["submitterPodTemplate"]["spec"]["nodeSelector"] == {"pool": "a"}

    other, _ = declare(cleanup={"shutDownAfterSeconds": 900}, entrypoint="python other.py")
    assert other.uid != first.uid
    spec = other.read()["spec"]
    assert spec["entrypoint"] == "python other.py"
    assert spec["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 1
    assert "suspend" not in spec
    assert other.wait_end().succeeded

    once_more, _ = declare(cleanup={"shutDownAfterSeconds": 900}, entrypoint="python other.py", run="2")
    assert once_more.uid not in (first.uid, other.uid)
