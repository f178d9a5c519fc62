"""What is done to a cluster is undone, whatever happens meanwhile."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from kuberay_e2e.clusterfaults.actions import Actions
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.session import Session

POD = {
    "metadata": {"name": "operator", "namespace": "ray-system"},
    "spec": {"nodeName": "node-1"},
    "status": {"containerStatuses": [{"name": "manager", "containerID": "containerd://aaa", "state": {"running": {}}}]},
}
DEPLOYMENT = {
    "metadata": {"name": "kuberay-operator", "namespace": "ray-system", "generation": 4},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "kuberay"}},
        "template": {"spec": {"containers": [{"name": "manager", "args": ["--enable-leader-election=false", "--x"]}]}},
    },
}


GONE = ["ctr: process already finished: not found", "ctr: task submitter not found: not found"]
"""What containerd says of a container that has just ended, and of one that it has cleared away."""


class Cluster:
    """An API server and a node that note what they are asked."""

    def __init__(self) -> None:
        self.commands: list[Sequence[str]] = []
        self.patches: list[tuple[str, Any]] = []
        self.deployment = json.loads(json.dumps(DEPLOYMENT))
        self.answers: dict[tuple[str, str], httpx.Response] = {}
        self.ended: set[str] = set()
        self.refusal = GONE[0]

    def exec(self, node: str, *command: str) -> str:
        self.commands.append((node, *command))
        if command[-1] in self.ended:
            raise HarnessError(f"{' '.join(command)} ended with 1: {self.refusal}")
        return "TASK PID STATUS\naaa 1234 RUNNING\n" if command[-2:] == ("task", "ls") else ""

    def answer(self, request: httpx.Request) -> httpx.Response:
        if (found := self.answers.get((request.method, request.url.path))) is not None:
            return found
        if request.method == "PATCH":
            body = json.loads(request.content)
            self.patches.append((request.url.path, body))
            if "deployments" in request.url.path:
                self.deployment["spec"]["replicas"] = body["spec"]["replicas"]
            return httpx.Response(200, json=self.deployment)
        return httpx.Response(200, json={"items": []})

    def read(self, *_: str) -> dict[str, Any]:
        replicas = self.deployment["spec"]["replicas"]
        status = {"observedGeneration": 4, "updatedReplicas": replicas, "readyReplicas": replicas}
        return {**self.deployment, "status": status if replicas else {"observedGeneration": 4}}

    def pods(self, *_: str, **__: str) -> list[dict[str, Any]]:
        return [POD] * int(self.deployment["spec"]["replicas"])

    def actions(self) -> Actions:
        def client(**_: object) -> httpx.Client:
            return httpx.Client(transport=httpx.MockTransport(self.answer), base_url="http://api")

        session = SimpleNamespace(
            access=SimpleNamespace(client=client),
            reader=SimpleNamespace(get=self.read, list=self.pods),
            cluster=SimpleNamespace(name="kind", nodes=self),
            operator_namespace="ray-system",
        )
        return Actions(cast(Session, session))


def test_packets_flow_again_after_the_cut_even_when_something_fails_meanwhile() -> None:
    cluster = Cluster()
    with pytest.raises(RuntimeError), cluster.actions().cut(POD, "10.244.1.9", 8265):
        raise RuntimeError
    rule = "OUTPUT -d 10.244.1.9 -p tcp --dport 8265 -j DROP"
    assert [" ".join(command) for command in cluster.commands[1:]] == [
        f"node-1 nsenter -t 1234 -n iptables -w -I {rule}",
        f"node-1 nsenter -t 1234 -n iptables -w -D {rule}",
    ]


def test_the_operator_is_as_before_after_it_was_changed() -> None:
    cluster = Cluster()
    with pytest.raises(RuntimeError), cluster.actions().operator_changed(replicas=2, leader_election=True):
        assert cluster.deployment["spec"]["replicas"] == 2
        raise RuntimeError
    (_, during), (_, after) = cluster.patches
    assert during["spec"]["template"]["spec"]["containers"][0]["args"] == ["--x", "--enable-leader-election=true"]
    assert after["spec"]["replicas"] == 1
    assert after["spec"]["template"] == DEPLOYMENT["spec"]["template"]


def test_an_operator_without_pods_is_waited_for() -> None:
    cluster = Cluster()
    with cluster.actions().operator_changed(replicas=0):
        assert cluster.pods() == []
    assert [body["spec"]["replicas"] for _, body in cluster.patches] == [0, 1]


def test_all_containers_of_a_pod_get_sigkill_on_their_node() -> None:
    cluster = Cluster()
    cluster.actions().kill(POD)
    assert [" ".join(command) for command in cluster.commands] == ["node-1 ctr -n k8s.io task kill -s SIGKILL aaa"]


def test_what_is_gone_already_need_not_be_deleted_but_a_refusal_is_told() -> None:
    cluster = Cluster()
    path = "/api/v1/namespaces/ray-system/pods/operator"
    cluster.answers[("DELETE", path)] = httpx.Response(404, text="not found")
    cluster.actions().delete("Pod", POD)
    cluster.answers[("DELETE", path)] = httpx.Response(403, text="not yours")
    with pytest.raises(HarnessError, match=rf"DELETE {path}: expected success, got 403: not yours"):
        cluster.actions().delete("Pod", POD)


def test_nobody_leads_where_there_is_no_lease() -> None:
    cluster = Cluster()
    path = "/apis/coordination.k8s.io/v1/namespaces/ray-system/leases/ray-operator-leader"
    cluster.answers[("GET", path)] = httpx.Response(404)
    assert cluster.actions().lease_holder() == ""
    cluster.answers[("GET", path)] = httpx.Response(200, json={"spec": {"holderIdentity": "operator_1"}})
    assert cluster.actions().lease_holder() == "operator_1"


def pod_of_two() -> dict[str, Any]:
    statuses: list[dict[str, Any]] = [
        {"name": name, "containerID": f"containerd://{name}", "state": {"running": {}}}
        for name in ("head", "submitter")
    ]
    return {**POD, "status": {"containerStatuses": statuses}}


@pytest.mark.parametrize("refusal", GONE)
def test_a_container_that_ends_with_its_neighbour_needs_no_kill(refusal: str) -> None:
    cluster = Cluster()
    cluster.ended, cluster.refusal = {"submitter"}, refusal
    cluster.actions().kill(pod_of_two())
    assert [command[-1] for command in cluster.commands] == ["head", "submitter"]


def test_a_pod_of_which_nothing_runs_cannot_be_killed() -> None:
    cluster = Cluster()
    cluster.ended = {"head", "submitter"}
    with pytest.raises(HarnessError, match="Expected a container of operator to run until it is killed"):
        cluster.actions().kill(pod_of_two())


def test_a_node_without_the_tool_is_no_container_that_has_ended() -> None:
    cluster = Cluster()
    cluster.ended, cluster.refusal = {"submitter"}, "sh: ctr: command not found in $PATH"
    with pytest.raises(HarnessError, match="command not found"):
        cluster.actions().kill(pod_of_two())
