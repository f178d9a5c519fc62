"""How often the entrypoint of a RayJob really ran: witnessed by the entrypoint itself, not by Ray or KubeRay.

Each run of the entrypoint appends words with times to a file of its own in a folder of the node, which the pods mount:
`start`, a `beat` twice a second, `task` where a task of it starts on a worker, and `end`. It goes on until it is
released, so that no fault comes too late on a loaded machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kuberay_e2e.clusters import Cluster
from kuberay_e2e.clusters.provider import Nodes
from kuberay_e2e.errors import HarnessError

MOUNT = "/runs"
"""Where pods mount the folder."""

RELEASE = ".release"
"""File that releases entrypoints."""

SILENCE_SECONDS = 8.0
"""A run whose last word is older than this is over; it beats every half a second, on a machine that may be loaded."""

_FOLDER = "/var/lib/kuberay-e2e"


@dataclass(frozen=True)
class Execution:
    """One run of the entrypoint.

    Attributes:
        pod: Name of the pod in which it ran.
        start: When it began, seconds since the epoch.
        last: Its last word, seconds since the epoch.
        ended: True where it came to its own end.
        tasks: How often a task of it started on a worker.
    """

    pod: str
    start: float
    last: float
    ended: bool
    tasks: int = 0

    def runs(self, now: float) -> bool:
        """True where it has not ended and was heard lately.

        Args:
            now: Seconds since the epoch.
        """
        return not self.ended and now - self.last < SILENCE_SECONDS


def parse(text: str) -> list[Execution]:
    """The runs that the words of their files tell of, in order of their start.

    Args:
        text: Lines `<run> <pod> <word> <time>`.

    Raises:
        HarnessError: A line is of another form.
    """
    runs: dict[str, Execution] = {}
    for line in text.splitlines():
        try:
            run, pod, word, seconds = line.split()
            time = float(seconds)
        except ValueError as error:
            raise HarnessError(f"Expected `<run> <pod> <word> <time>` from an entrypoint, got {line!r}.") from error
        before = runs.get(run) or Execution(pod, time, time, False)
        runs[run] = Execution(
            before.pod if word != "start" else pod,
            min(before.start, time),
            max(before.last, time),
            before.ended or word == "end",
            before.tasks + (word == "task"),
        )
    return sorted(runs.values(), key=lambda execution: execution.start)


@dataclass(frozen=True)
class Executions:
    """The runs of the entrypoints of a namespace, on whichever node they were.

    Attributes:
        cluster: The cluster.
        namespace: Namespace of the RayJob.
    """

    cluster: Cluster
    namespace: str

    @property
    def folder(self) -> str:
        """The folder on each node."""
        return f"{_FOLDER}/{self.namespace}"

    def prepare(self) -> None:
        """Make the folder on each node, writable for Ray's user."""
        for node in self._nodes.names():
            self._nodes.exec(node, "mkdir", "-p", "-m", "777", self.folder)

    def read(self) -> Sequence[Execution]:
        """The runs so far."""
        command = f"cat {self.folder}/* 2>/dev/null || true"
        return parse("".join(self._nodes.exec(node, "sh", "-c", command) for node in self._nodes.names()))

    def release(self) -> None:
        """Let the entrypoints come to their end, those that start later too."""
        for node in self._nodes.names():
            self._nodes.exec(node, "touch", f"{self.folder}/{RELEASE}")

    def remove(self) -> None:
        """Remove the folders."""
        for node in self._nodes.names():
            self._nodes.exec(node, "rm", "-rf", self.folder)

    @property
    def _nodes(self) -> Nodes:
        return nodes_of(self.cluster)


def nodes_of(cluster: Cluster) -> Nodes:
    """Access to the nodes of a cluster.

    Raises:
        HarnessError: There is none.
    """
    if cluster.nodes is None:
        raise HarnessError(
            f"Expected access to the nodes of the cluster {cluster.name}, because faults are injected there; this "
            "kind of cluster gives none. Use --cluster kind."
        )
    return cluster.nodes
