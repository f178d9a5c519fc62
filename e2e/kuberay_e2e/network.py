"""Loopback ports, and address ranges that no packet of the harness can leave the machine by."""

import socket

LOOPBACK = "127.0.0.1"

POD_RANGE = "239.192.0.1/16"
SERVICE_RANGE = "239.193.0.0/16"
"""Addresses of simulated pods and of Services: organisation-local multicast (RFC 2365).

Nothing listens behind these addresses. Kubernetes accepts them where it refuses loopback and link-local
ones, and a kernel refuses to open a TCP connection to them, so that a dial fails at once on this machine.
"""


def free_ports(count: int) -> list[int]:
    """Distinct TCP ports that are free on loopback right now."""
    sockets = []
    try:
        for _ in range(count):
            opened = socket.socket()
            opened.bind((LOOPBACK, 0))
            sockets.append(opened)
        return [opened.getsockname()[1] for opened in sockets]
    finally:
        for opened in sockets:
            opened.close()
