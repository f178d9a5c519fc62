"""The way from the API server to Services and pods, all of which ends at processes on this machine.

The API server calls webhooks and aggregated APIs by the address of a Service. On simulated nodes nobody has that
address, so the API server's egress selector sends every such connection here, as an HTTP CONNECT request on a Unix
socket in the abstract namespace, which leaves no file. A Service behind which a local process runs is connected to
that process, TLS and all; everything else is refused at once, so that nothing is ever dialled elsewhere.
https://kubernetes.io/docs/tasks/extend-kubernetes/setup-konnectivity/ describes the selector.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.network import LOOPBACK

_BLOCK = 65536
_NODES = {LOOPBACK, "localhost"}
"""Addresses of the simulated nodes, whose kubelet kwok serves: logs of pods come from there."""


def socket_name(marker: str) -> str:
    """Name of the socket of a run in the abstract namespace, as Go writes it."""
    return f"@kuberay-e2e/{marker}"


def selector(marker: str) -> dict[str, Any]:
    """The API server's egress selector configuration, see `socket_name`."""
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": socket_name(marker)}}}
    return {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [{"name": "cluster", "connection": connection}],
    }


@dataclass(frozen=True)
class Backend:
    """A local process that stands for pods.

    Attributes:
        namespace: Namespace of the pods.
        labels: Labels of the pods, which a Service selects by.
        ports: Loopback ports by the container ports that they stand for.
    """

    namespace: str
    labels: Mapping[str, str]
    ports: Mapping[int, int]

    def port(self, service: Mapping[str, Any], number: int) -> int | None:
        """The loopback port behind a port of a Service, or None if the Service does not select these pods."""
        wanted = service["spec"].get("selector") or {}
        if service["metadata"]["namespace"] != self.namespace or not wanted.items() <= self.labels.items():
            return None
        for port in service["spec"]["ports"]:
            if port["port"] == number and wanted:
                return self.ports.get(port.get("targetPort", number))
        return None


class _RefusedError(Exception):
    """The message is what the API server is told."""


class Egress:
    """Connects the API server to local processes.

    Args:
        marker: The run, which names the socket.
        access: The API server, asked which Service has an address.

    Use it as an asynchronous context manager.
    """

    def __init__(self, marker: str, access: Access) -> None:
        self._socket = "\0" + socket_name(marker).removeprefix("@")
        self._access = access
        self._backends: list[Backend] = []
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Egress":
        context = self._access.ssl_context()
        self._client = httpx.AsyncClient(
            base_url=self._access.server, verify=context if context is not None else False, trust_env=False, timeout=10
        )
        self._server = await asyncio.start_unix_server(self._accept, self._socket)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._client.aclose()

    def serve(self, backend: Backend) -> None:
        """Connect the Services that select a backend to it."""
        self._backends.append(backend)

    def leave(self, backend: Backend) -> None:
        """Refuse connections to a backend from now on."""
        if backend in self._backends:
            self._backends.remove(backend)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._carry(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        target = request.split(b" ", 2)[1].decode("latin-1")
        try:
            port = await self._destination(target)
            inner, outer = await asyncio.open_connection(LOOPBACK, port)
        except (_RefusedError, OSError, httpx.HTTPError) as reason:
            writer.write(f"HTTP/1.1 502 {target}: {reason}\r\nContent-Length: 0\r\n\r\n".encode("latin-1", "replace"))
            await writer.drain()
            return
        try:
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_copy(reader, outer))
                ways.create_task(_copy(inner, writer))
        finally:
            outer.close()

    async def _destination(self, target: str) -> int:
        address, _, number = target.rpartition(":")
        if address in _NODES:
            return int(number)
        answer = await self._client.get("/api/v1/services", params={"fieldSelector": f"spec.clusterIP={address}"})
        answer.raise_for_status()
        for service in answer.json()["items"]:
            for backend in self._backends:
                if (port := backend.port(service, int(number))) is not None:
                    return port
            raise _RefusedError(f"no local process is behind the Service {service['metadata']['name']}")
        raise _RefusedError("this is no address of a Service, and simulated pods cannot be dialled")


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while block := await reader.read(_BLOCK):
            writer.write(block)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
