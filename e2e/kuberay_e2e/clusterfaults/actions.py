"""What is done to a real cluster, by the API server and on its nodes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from kuberay_e2e.api import KINDS, Object
from kuberay_e2e.clusterfaults.executions import nodes_of
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.session import OPERATOR, Session

LEASE = "ray-operator-leader"
"""Name of the operator's lease (main.go of KubeRay, LeaderElectionID)."""

_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_ROLLOUT_SECONDS = 90.0

_ENDED = re.compile(r"ctr: .*not found\s*$")
"""What containerd says of a container that has ended by itself, before or after it has cleared it away."""

_USE_UP_MEMORY = """
folder=$(find /sys/fs/cgroup/memory /sys/fs/cgroup -type d -name "*$1*" 2>/dev/null | head -n 1)
[ -n "$folder" ] || { echo "there is no cgroup of the container $1" >&2; exit 1; }
for process in $(cat "$folder/cgroup.procs"); do echo 1000 > "/proc/$process/oom_score_adj"; done
sh -c 'echo $$ > "$1/cgroup.procs" && exec tail /dev/zero' sh "$folder" || true
"""


class Actions:
    """Acts on the cluster of a session.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._operators = session.operator_namespace

    def create(self, path: str, manifest: Mapping[str, Any]) -> Object:
        """Create an object.

        Args:
            path: Its collection.
            manifest: The object.
        """
        created: Object = self._send("POST", path, manifest)
        return created

    def delete(self, kind: str, item: Object, *, grace: int | None = None) -> None:
        """Delete an object with what it owns; one that is gone already is left alone.

        Args:
            kind: One of `kuberay_e2e.api.KINDS`.
            item: The object.
            grace: Grace period, seconds; default: the object's own.
        """
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        self._send("DELETE", _path(kind, item), options, missing=True)

    def evict(self, pod: Object) -> None:
        """Evict a pod, as `kubectl drain` does."""
        meta = pod["metadata"]
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
        }
        self._send("POST", f"{_path('Pod', pod)}/eviction", eviction, missing=True)

    def cordon(self, node: str, *, on: bool) -> None:
        """Let a node take no new pods, or take them again."""
        self._send("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": on}})

    def kill(self, pod: Object, container: str | None = None) -> None:
        """End a pod's containers with SIGKILL, as a crash of their processes does.

        A container that ends because another one of its pod did, as a submitter beside its head, is left alone.

        Args:
            pod: The pod.
            container: Name of the one container; default: all of them.

        Raises:
            HarnessError: None of them ran any more.
        """
        node, killed, ended = pod["spec"]["nodeName"], 0, ""
        for identity in container_ids(pod, container):
            try:
                self._exec(node, "ctr", "-n", "k8s.io", "task", "kill", "-s", "SIGKILL", identity)
                killed += 1
            except HarnessError as error:
                if not _ENDED.search(str(error)):
                    raise
                ended = str(error)
        if not killed:
            raise HarnessError(f"Expected a container of {pod['metadata']['name']} to run until it is killed: {ended}")

    def process(self, pod: Object, container: str | None = None) -> int:
        """Number of the first process of a pod's container, on its node."""
        [identity, *_] = container_ids(pod, container)
        listed = self._exec(pod["spec"]["nodeName"], "ctr", "-n", "k8s.io", "task", "ls")
        return process_number(listed, identity)

    @contextmanager
    def cut(self, pod: Object, address: str, port: int) -> Iterator[None]:
        """Drop what a pod sends somewhere, by a rule in the pod's own network namespace, until the block ends.

        Args:
            pod: The pod.
            address: Where its packets would go: a pod's address, which is what the name of a headless Service means.
            port: To which port.
        """
        node, process = pod["spec"]["nodeName"], str(self.process(pod))
        rule = ("OUTPUT", "-d", address, "-p", "tcp", "--dport", str(port), "-j", "DROP")
        into = ("nsenter", "-t", process, "-n", "iptables", "-w")
        self._exec(node, *into, "-I", *rule)
        try:
            yield
        finally:
            self._exec(node, *into, "-D", *rule)

    def use_up_memory(self, pod: Object) -> None:
        """Use up the memory of a pod's container until the kernel has killed its processes.

        A process of the node joins the memory cgroup of the container and grows; the container's own processes are
        marked to be killed first. It is killed itself in the end.
        """
        [identity, *_] = container_ids(pod)
        self._exec(pod["spec"]["nodeName"], "sh", "-c", _USE_UP_MEMORY, "sh", identity)

    def operator_pods(self) -> list[Object]:
        """The operator's pods that are not being deleted, in the order of their names."""
        found = [pod for pod in self._operator_pods() if not pod["metadata"].get("deletionTimestamp")]
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    def lease_holder(self) -> str:
        """Identity of the operator's leader; empty where there is none."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self._operators}/leases/{LEASE}"
        lease = self._send("GET", path, missing=True)
        return str((lease.get("spec") or {}).get("holderIdentity") or "")

    @contextmanager
    def operator_changed(self, *, replicas: int, leader_election: bool | None = None) -> Iterator[None]:
        """Change the operator's Deployment, and change it back when the block ends.

        Args:
            replicas: How many operators there are.
            leader_election: Whether they elect a leader; None: as it is.
        """
        deployment = self._deployment()
        before = deployment["spec"]["replicas"], deployment["spec"]["template"]["spec"]["containers"]
        containers = before[1] if leader_election is None else _electing(before[1], on=leader_election)
        try:
            self._roll(replicas, containers)
            yield
        finally:
            self._roll(*before)

    def api_server_pod(self) -> Object:
        """The static pod of the API server."""
        pods = self._session.reader.list("Pod", "kube-system", selector="component=kube-apiserver")
        if not pods:
            raise HarnessError("Expected a static pod of the API server in kube-system; there is none.")
        return pods[0]

    def workers_of_kubernetes(self) -> list[str]:
        """Names of the nodes that are no control plane and take pods."""
        nodes = self._send("GET", "/api/v1/nodes")["items"]
        return sorted(
            node["metadata"]["name"]
            for node in nodes
            if _CONTROL_PLANE not in node["metadata"]["labels"] and not node["spec"].get("unschedulable")
        )

    def _roll(self, replicas: int, containers: Sequence[Mapping[str, Any]]) -> None:
        path = f"{KINDS['Deployment'].format(namespace=self._operators)}/{OPERATOR}"
        change = {"spec": {"replicas": replicas, "template": {"spec": {"containers": containers}}}}
        generation = self._send("PATCH", path, change)["metadata"]["generation"]
        wait_for(
            f"{replicas} operators to run",
            lambda: self._rolled(replicas, generation),
            seconds=_ROLLOUT_SECONDS,
            pause=0.5,
        )

    def _rolled(self, replicas: int, generation: int) -> None:
        status = self._deployment().get("status") or {}
        seen = status.get("updatedReplicas", 0), status.get("readyReplicas", 0), len(self._operator_pods())
        if status.get("observedGeneration", 0) < generation or seen != (replicas, replicas, replicas):
            raise NotYetError(f"{seen[0]} updated, {seen[1]} ready, {seen[2]} pods")

    def _deployment(self) -> Object:
        found = self._session.reader.get("Deployment", self._operators, OPERATOR)
        if found is None:
            raise HarnessError(f"Expected the Deployment {self._operators}/{OPERATOR} to be there; it is not.")
        return found

    def _operator_pods(self) -> list[Object]:
        labels = self._deployment()["spec"]["selector"]["matchLabels"]
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        return self._session.reader.list("Pod", self._operators, selector=selector)

    def _exec(self, node: str, *command: str) -> str:
        return nodes_of(self._session.cluster).exec(node, *command)

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, missing: bool = False) -> Any:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        with self._session.access.client(timeout=30.0) as client:
            try:
                answer = client.request(method, path, json=body, headers={"Content-Type": kind} if body else {})
            except httpx.TransportError as error:
                raise HarnessError(f"{method} {path}: the API server did not answer ({error!r}).") from error
        if answer.status_code == 404 and missing:
            return {}
        if not answer.is_success:
            raise HarnessError(f"{method} {path}: expected success, got {answer.status_code}: {answer.text[:300]}")
        return answer.json()


def container_ids(pod: Object, container: str | None = None) -> list[str]:
    """The running containers of a pod, as the container runtime knows them.

    Args:
        pod: The pod.
        container: Name of the one container; default: all of them.

    Raises:
        HarnessError: None of them runs.
    """
    found = [
        str(status["containerID"]).rpartition("/")[2]
        for status in (pod.get("status") or {}).get("containerStatuses") or ()
        if "running" in (status.get("state") or {}) and container in (None, status["name"])
    ]
    if not found:
        which = f"the container {container}" if container else "a container"
        raise HarnessError(f"Expected {which} of the pod {pod['metadata']['name']} to run; none does.")
    return found


def process_number(listed: str, identity: str) -> int:
    """The process number of a container, from what `ctr task ls` prints.

    Raises:
        HarnessError: The container is not listed.
    """
    for line in listed.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == identity:
            return int(words[1])
    raise HarnessError(f"Expected the container {identity[:12]} among the tasks of its node; they are:\n{listed}")


def _electing(containers: Sequence[Mapping[str, Any]], *, on: bool) -> list[Mapping[str, Any]]:
    first, *others = containers
    kept = [argument for argument in first.get("args") or () if not argument.startswith("--enable-leader-election")]
    return [{**first, "args": [*kept, f"--enable-leader-election={str(on).lower()}"]}, *others]


def _path(kind: str, item: Object) -> str:
    meta = item["metadata"]
    return f"{KINDS[kind].format(namespace=meta['namespace'])}/{meta['name']}"
