"""What the harness asks of a cluster, whoever provides it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kuberay_e2e.state import Run


class Prepared(Protocol):
    """A command that waits until it is told to run."""

    def run(self) -> None:
        """Run it now and wait for its end.

        Raises:
            HarnessError: It failed or took too long.
        """
        ...

    def release(self) -> None:
        """Let it go without having run it."""
        ...


class Nodes(Protocol):
    """Access to the nodes of a cluster, as an administrator of the machine has it."""

    def names(self) -> list[str]:
        """Names of the nodes, as Kubernetes knows them, the control plane first."""
        ...

    def exec(self, node: str, *command: str) -> str:
        """Run a command on a node as root and return what it printed.

        Raises:
            HarnessError: It failed or took too long.
        """
        ...

    def prepare(self, node: str, *command: str) -> Prepared:
        """Start a command on a node that waits until it is told to run, which then takes milliseconds.

        Raises:
            HarnessError: The node cannot be entered.
        """
        ...

    def load(self, archive: Path) -> None:
        """Take the image of a docker-archive into every node, so that pods can use it without a registry.

        Raises:
            HarnessError: The archive cannot be read, or a node refused it.
        """
        ...


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        name: Name of the cluster.
        kubeconfig: File with the administrator's access, in the run's own folder.
        simulated_pods: True where no kubelet runs containers, so that the harness itself has to run the
            operator and Ray as processes.
        pod_logs: Folder in which the harness keeps the logs of the pods that it runs; None where a kubelet does.
        nodes: Access to the nodes; None where there is none.
    """

    name: str
    kubeconfig: Path
    simulated_pods: bool
    pod_logs: Path | None = None
    nodes: Nodes | None = None


class ClusterProvider(Protocol):
    """Makes a cluster for a run and takes it down completely."""

    name: str

    def up(self, run: Run) -> AbstractContextManager[Cluster]:
        """Create a cluster that is gone, with all its processes, when the block ends.

        Raises:
            HarnessError: The cluster did not come up; the message says why.
        """
        ...
