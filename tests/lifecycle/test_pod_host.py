"""A pod is killed when a watch shows the write, and the next one is another incarnation.

The pods are simulated, so that the writes that the watch shows are those of the local operator beside them.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from kuberay_e2e.errors import HarnessError, InputError
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.operator_lives import Life, PodDeletion
from kuberay_e2e.operator_pod import OperatorPod
from kuberay_e2e.session import Installation, Operator, Programs, Session
from kuberay_e2e.session.pod_host import PodHost
from kuberay_e2e.trace import Event, Trace
from tests.e2e.jobs import PATIENCE, Job, rayjob

NAME = "watched"


def deployment() -> dict[str, Any]:
    labels = {"app": NAME}
    container = {"name": "operator", "image": "quay.io/kuberay/operator:v1.6.2"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": NAME}, "spec": spec}


@pytest.fixture
def trace(kuberay_session: Session) -> Trace:
    """What is seen of the cluster's objects, and of the watched pod; the session's own tells of the local operator."""
    trace = Trace()

    def pass_on(event: Event) -> None:
        if event.kind == "object":
            trace.add(event.kind, **event.data)

    kuberay_session.trace.listen(pass_on)
    return trace


@pytest.fixture
def host(
    kuberay_session: Session, kuberay_programs: Programs, kuberay_namespace: str, trace: Trace
) -> Iterator[PodHost]:
    session = kuberay_session
    with session.access.client() as client:
        path = f"/apis/apps/v1/namespaces/{kuberay_namespace}/deployments"
        client.post(path, json=deployment()).raise_for_status()
    killer = PodDeletion(session.access, kuberay_namespace)
    installation = Installation(kuberay_namespace, NAME)
    host = PodHost(session.run, kuberay_programs, session.access, killer, trace, installation=installation)
    yield host
    host.close()


@pytest.mark.e2e
def test_a_write_kills_the_pod(
    host: PodHost, trace: Trace, kuberay_session: Session, kuberay_operator: Operator, kuberay_namespace: str
) -> None:
    assert kuberay_operator.running
    pod = host.start()
    assert (pod.incarnation, pod.running) == (1, True)
    fault = parse("create:Job@after")
    host.arm(fault)
    job = Job.create(kuberay_session, rayjob(kuberay_namespace))
    assert fault.fired.wait(PATIENCE)
    pod.wait_killed()
    assert host.start().incarnation == 2
    assert job.wait_end().succeeded
    job.delete()
    ours = [event.data for event in trace.events("operator")]
    assert [data["event"] for data in ours] == ["started", "killed", "started"]
    assert ours[1]["by"] == "deletion of its pod with grace period 0"
    assert len({data["uid"] for data in ours}) == 2
    created = sorted(write for write in host.writes() if write.startswith("create:"))
    assert [created.count(f"create:{kind}#1") for kind in ("RayCluster", "Pod", "Job")] == [1, 2, 1]


@pytest.mark.e2e
def test_stop_scales_down_and_start_scales_up(host: PodHost) -> None:
    pod = host.start()
    pod.stop()
    assert not pod.running
    pod.stop()
    assert host.start().running


@pytest.mark.e2e
def test_no_deployment(kuberay_session: Session, kuberay_namespace: str) -> None:
    access = kuberay_session.access
    killer = PodDeletion(access, kuberay_namespace)
    pod = OperatorPod(access, kuberay_namespace, "absent", killer, kuberay_session.run.path("none"), Trace())
    with pytest.raises(HarnessError, match="deployments/absent to be there; it is not"):
        pod.start()
    with pytest.raises(HarnessError, match="Expected the operator to run before it is killed"):
        pod.kill()
    pod.stop()
    pod.close()


@pytest.mark.e2e
def test_what_a_pod_has_not_is_refused_before_anything_is_armed(host: PodHost) -> None:
    host.start()
    with pytest.raises(InputError, match="can only be"):
        host.arm(parse("create:Job@committed"))


def test_a_life_is_read_from_a_pod() -> None:
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    status = {"name": "operator", "restartCount": 2, "containerID": "containerd://abc", "state": state}
    pod = {
        "metadata": {"name": "p", "uid": "u"},
        "spec": {"nodeName": "n", "containers": [{"image": "quay.io/kuberay/operator:v1.6.2"}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }
    life = Life.of(pod)
    assert (life.key, life.container, life.node, life.version) == (("u", 2), "abc", "n", "1.6.2")
    assert (life.running, life.ready, life.waiting) == (False, False, "waiting: CrashLoopBackOff")


def test_a_pod_without_a_status_does_not_run() -> None:
    life = Life.of({"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": [{"image": "operator"}]}})
    assert (life.running, life.restarts, life.container) == (False, 0, "")
