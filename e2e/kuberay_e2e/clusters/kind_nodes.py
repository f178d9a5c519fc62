"""The nodes of a kind cluster, reached through the container engine."""

from collections.abc import Sequence
from pathlib import Path

from kuberay_e2e.clusters.containers import ContainerEngine


class KindNodes:
    """Access to the nodes of a kind cluster; implements `Nodes`."""

    def __init__(self, engine: ContainerEngine, names: Sequence[str]) -> None:
        self._engine = engine
        self._names = list(names)

    def names(self) -> list[str]:
        """Names of the nodes, which are those of their containers; the control plane first."""
        return list(self._names)

    def exec(self, node: str, *command: str) -> str:
        """Run a command on a node as root and return what it printed.

        Raises:
            HarnessError: It failed or took too long.
        """
        return self._engine.exec(node, *command)

    def load(self, archive: Path) -> None:
        """Take the image of a docker-archive into containerd on every node.

        Raises:
            HarnessError: The archive cannot be read, or a node refused it.
        """
        command = ("ctr", "--namespace", "k8s.io", "images", "import", "--all-platforms", "--digests", "-")
        for node in self._names:
            self._engine.exec(node, *command, input=archive, seconds=600)


def node_names(cluster: str, count: int) -> list[str]:
    """Names that kind gives to the nodes of a cluster."""
    workers = [f"{cluster}-worker{number if number > 1 else ''}" for number in range(1, count)]
    return [f"{cluster}-control-plane", *workers]
