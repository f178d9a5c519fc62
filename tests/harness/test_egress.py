"""The API server reaches the local processes behind Services, and nothing else."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from kuberay_e2e.access import Access
from kuberay_e2e.egress import Backend, Egress, selector
from kuberay_e2e.network import LOOPBACK

WEBHOOK = {
    "metadata": {"name": "webhook-service", "namespace": "kueue-system"},
    "spec": {"selector": {"app": "kueue"}, "ports": [{"port": 443, "targetPort": 9443}]},
}
ADDRESS = "239.193.0.7"
LABELS = {"app": "kueue", "pod-template-hash": "5d4"}


def test_a_service_names_a_process_by_namespace_labels_and_port() -> None:
    backend = Backend("kueue-system", LABELS, {9443: 4711})
    assert backend.port(WEBHOOK, 443) == 4711
    assert backend.port(WEBHOOK, 8443) is None
    assert Backend("elsewhere", LABELS, {9443: 4711}).port(WEBHOOK, 443) is None
    assert Backend("kueue-system", {"app": "other"}, {9443: 4711}).port(WEBHOOK, 443) is None
    assert Backend("kueue-system", LABELS, {8082: 4711}).port(WEBHOOK, 443) is None


def test_a_service_without_selector_names_no_process() -> None:
    service: dict[str, Any] = {**WEBHOOK, "spec": {"ports": [{"port": 443}]}}
    assert Backend("kueue-system", LABELS, {443: 4711}).port(service, 443) is None


async def answer_services(request: web.Request) -> web.Response:
    found = [WEBHOOK] if request.query["fieldSelector"] == f"spec.clusterIP={ADDRESS}" else []
    return web.json_response({"items": found})


@contextlib.asynccontextmanager
async def opened(marker: str) -> AsyncIterator[Egress]:
    """An egress in front of an API server with one Service."""
    app = web.Application()
    app.router.add_get("/api/v1/services", answer_services)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, LOOPBACK, 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    async with Egress(marker, Access(f"http://{host}:{port}")) as egress:
        yield egress
    await runner.cleanup()


async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def connect(marker: str, target: str, line: bytes = b"hello\n") -> tuple[str, bytes]:
    """Status of the CONNECT request, and what came back through the connection."""
    name = selector(marker)["egressSelections"][0]["connection"]["transport"]["uds"]["udsName"]
    reader, writer = await asyncio.open_unix_connection(name.replace("@", "\0"))
    writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() + line)
    status = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[0].removeprefix("HTTP/1.1 ")
    said = await reader.read()
    writer.close()
    return status, said


async def exchange(marker: str, target: str) -> tuple[str, bytes]:
    server = await asyncio.start_server(shout, LOOPBACK, 0)
    port = server.sockets[0].getsockname()[1]
    async with opened(marker) as egress:
        egress.serve(Backend("kueue-system", LABELS, {9443: port}))
        found = await connect(marker, target.replace("NODE", f"{LOOPBACK}:{port}"))
    server.close()
    return found


def test_a_service_is_connected_to_its_process() -> None:
    assert asyncio.run(exchange("connected", f"{ADDRESS}:443")) == ("200 Connected", b"HELLO\n")


def test_a_node_is_this_machine() -> None:
    assert asyncio.run(exchange("node", "NODE")) == ("200 Connected", b"HELLO\n")


def test_a_pod_is_never_dialled() -> None:
    status, _ = asyncio.run(exchange("pod", "239.192.0.9:9443"))
    assert status.startswith("502 239.192.0.9:9443: this is no address of a Service")


def test_a_port_that_no_process_serves_is_refused_by_name() -> None:
    status, _ = asyncio.run(exchange("port", f"{ADDRESS}:8080"))
    assert status == f"502 {ADDRESS}:8080: no local process is behind the Service webhook-service"


def test_a_process_that_left_is_no_longer_connected() -> None:
    async def left() -> tuple[str, bytes]:
        async with opened("left") as egress:
            backend = Backend("kueue-system", LABELS, {9443: 4711})
            egress.serve(backend)
            egress.leave(backend)
            return await connect("left", f"{ADDRESS}:443")

    assert asyncio.run(left())[0].startswith("502")


def test_leaving_with_a_connection_open_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def leave() -> None:
        name = selector("left")["egressSelections"][0]["connection"]["transport"]["uds"]["udsName"]
        async with opened("left"):
            _, writer = await asyncio.open_unix_connection(name.replace("@", "\0"))
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.05)
        writer.close()

    asyncio.run(leave())
    assert not caplog.records
