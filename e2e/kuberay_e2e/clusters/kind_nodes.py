"""The nodes of a kind cluster, reached through the container engine."""

from collections.abc import Sequence
from pathlib import Path

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind_configuration import SERVICE_RANGE, pod_range
from kuberay_e2e.clusters.prepared import PreparedCommand


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

    def prepare(self, node: str, *command: str) -> PreparedCommand:
        """Start a command on a node that waits until it is told to run.

        Raises:
            HarnessError: The node cannot be entered.
        """
        return PreparedCommand(self._engine, node, *command)

    def load(self, archive: Path) -> None:
        """Take the image of a docker-archive into containerd on every node.

        Raises:
            HarnessError: The archive cannot be read, or a node refused it.
        """
        command = ("ctr", "--namespace", "k8s.io", "images", "import", "--all-platforms", "--digests", "-")
        for node in self._names:
            self._engine.exec(node, *command, input=archive, seconds=600)

    def connect(self) -> None:
        """Route packets between pods on different nodes, and let nodes know each other's names.

        kube-proxy reaches the API server by the name of the control plane, which no name server knows once the nodes
        are isolated. Its container reads the names when it starts, so that it is started again.

        Raises:
            HarnessError: A node refused a route or a name.
        """
        addresses = {name: self.address(name) for name in self._names}
        for node in self._names:
            for index, (other, address) in enumerate(addresses.items()):
                if other != node:
                    self.exec(node, "ip", "route", "replace", pod_range(index), "via", address)
                    self.exec(node, "sh", "-c", f"echo '{address} {other}' >>/etc/hosts")
        for node in self._names[1:]:
            self.exec(node, "sh", "-c", "pkill -x kube-proxy || true")

    def isolate(self) -> None:
        """Leave the nodes and their pods no way to anything beyond this machine.

        Without a default route the addresses of Services need one of their own: a packet is sent on to a pod only
        after its first address was found to be reachable.

        Raises:
            HarnessError: A node refused a route.
        """
        for node in self._names:
            self.exec(node, "ip", "route", "replace", SERVICE_RANGE, "dev", "eth0")
            self.exec(node, "ip", "route", "del", "default")

    def address(self, node: str) -> str:
        """The address of a node in the containers' network.

        Raises:
            HarnessError: The engine does not know it.
        """
        form = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        return self._engine.run("inspect", "--format", form, node).strip()


def node_names(cluster: str, count: int) -> list[str]:
    """Names that kind gives to the nodes of a cluster."""
    workers = [f"{cluster}-worker{number if number > 1 else ''}" for number in range(1, count)]
    return [f"{cluster}-control-plane", *workers]
