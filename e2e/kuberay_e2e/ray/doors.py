"""The doors of a back end's heads."""

from kuberay_e2e.network import LOOPBACK, free_ports
from kuberay_e2e.ray.door import Door, JobsService
from kuberay_e2e.ray.ledger import Ledger, RayClusterKey


class Doors:
    """One door per head, at an address that a RayCluster keeps.

    A Service keeps its name when its Pod is replaced; so does a door keep its port, open or not. A submitter
    that was started early, or that outlives a head, meets a refused connection and later the new head.

    Args:
        ledger: Gets what passes the doors.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._ports: dict[RayClusterKey, int] = {}
        self._open: dict[RayClusterKey, Door] = {}

    async def open(self, key: RayClusterKey, service: JobsService) -> str:
        """Open the door of a head; returns its base URL."""
        door = Door(key, self._ledger, service)
        try:
            await door.open(self._port(key))
        except OSError:
            del self._ports[key]
            await door.close()
            await door.open(self._port(key))
        self._open[key] = door
        return self.address(key)

    async def close(self, key: RayClusterKey) -> None:
        """Close a head's door and drop its connections."""
        door = self._open.pop(key, None)
        if door is not None:
            await door.close()

    def url(self, key: RayClusterKey) -> str | None:
        """Base URL of an open door."""
        return self.address(key) if key in self._open else None

    def address(self, key: RayClusterKey) -> str:
        """Base URL at which a RayCluster's door is or will be."""
        return f"http://{LOOPBACK}:{self._port(key)}"

    def _port(self, key: RayClusterKey) -> int:
        if key not in self._ports:
            [self._ports[key]] = free_ports(1)
        return self._ports[key]
