"""Lives of the operator's container, and ways to end one at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kuberay_e2e.access import Access
from kuberay_e2e.clusters.provider import Nodes, Prepared
from kuberay_e2e.errors import HarnessError


@dataclass(frozen=True)
class Life:
    """One life of the operator's container.

    Attributes:
        pod: Name of its pod.
        uid: UID of its pod.
        node: Node of its pod.
        restarts: Restart count of the container.
        container: Id of the container in its runtime.
        running: True while the container runs.
        ready: True while the pod is Ready.
        version: Release of the operator, from the tag of its image, without a leading `v`.
        waiting: Why the container does not run.
    """

    pod: str
    uid: str
    node: str
    restarts: int
    container: str
    running: bool
    ready: bool
    version: str
    waiting: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """What tells one life from another."""
        return self.uid, self.restarts

    @classmethod
    def of(cls, pod: Mapping[str, Any]) -> "Life":
        """Read a pod."""
        meta, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
        container: Mapping[str, Any] = next(iter(status.get("containerStatuses") or ()), {})
        state = container.get("state") or {}
        reasons = [f"{name}: {found.get('reason', '')}" for name, found in state.items() if name != "running"]
        conditions = {item["type"]: item["status"] for item in status.get("conditions") or ()}
        return cls(
            meta["name"],
            meta["uid"],
            spec.get("nodeName", ""),
            int(container.get("restartCount") or 0),
            str(container.get("containerID") or "").rpartition("//")[2],
            "running" in state,
            conditions.get("Ready") == "True",
            spec["containers"][0]["image"].rpartition(":")[2].removeprefix("v"),
            ", ".join(reasons) or str(status.get("phase", "")),
        )


class Killer(Protocol):
    """A way to end the operator's container at once."""

    name: str

    def aim(self, life: Life) -> None:
        """Prepare to end it, so that the end itself takes no time.

        Raises:
            HarnessError: It cannot be reached.
        """
        ...

    def kill(self, life: Life) -> None:
        """End it.

        Raises:
            HarnessError: It could not be ended.
        """
        ...

    def release(self) -> None:
        """Forget what was aimed at."""
        ...


class NodeKiller:
    """SIGKILL from the node: nobody is asked, nothing is shut down, the pod stays.

    A kill command is started when a life is aimed at and waits on the node; it kills only what is still that life's
    container.

    Args:
        nodes: Access to the nodes.
    """

    name = "SIGKILL on its node"

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._aimed: tuple[Life, Prepared] | None = None

    def aim(self, life: Life) -> None:
        """Find the container's first process and start the command that will kill it."""
        self.release()
        tasks = self._nodes.exec(life.node, "ctr", "--namespace", "k8s.io", "task", "ls")
        found = [words for words in map(str.split, tasks.splitlines()) if words and words[0] == life.container]
        if not found:
            raise HarnessError(f"Expected the container {life.container} of {life.pod} to run on {life.node}.")
        process = found[0][1]
        kill = 'grep -q "$1" "/proc/$2/cgroup" && kill -KILL "$2"'
        command = ("sh", "-c", kill, "sh", life.container, process)
        self._aimed = life, self._nodes.prepare(life.node, *command)

    def kill(self, life: Life) -> None:
        """Let the command run."""
        if self._aimed is None or self._aimed[0].key != life.key:
            self.aim(life)
        assert self._aimed is not None
        (_, command), self._aimed = self._aimed, None
        command.run()

    def release(self) -> None:
        """Let a command go that waits on a node."""
        if self._aimed is not None:
            self._aimed[1].release()
            self._aimed = None


class PodDeletion:
    """Deletion of the pod with a grace period of 0, where the nodes cannot be reached.

    The API server forgets the pod at once and the Deployment makes another; the kubelet still sends SIGTERM first and
    SIGKILL a second or two later, so that the dying operator may write on for a moment.

    Args:
        access: The API server.
        namespace: Namespace of the pod.
    """

    name = "deletion of its pod with grace period 0"

    def __init__(self, access: Access, namespace: str) -> None:
        self._access = access
        self._namespace = namespace

    def aim(self, life: Life) -> None:
        """A deletion needs no preparation."""

    def release(self) -> None:
        """Nothing waits."""

    def kill(self, life: Life) -> None:
        """Delete the pod."""
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": life.uid}}
        with self._access.client() as client:
            answer = client.request("DELETE", f"/api/v1/namespaces/{self._namespace}/pods/{life.pod}", json=options)
        if not answer.is_success and answer.status_code != 404:
            raise HarnessError(f"The pod {self._namespace}/{life.pod} could not be deleted: {answer.text[:300]}")
