"""The observer misses no version: it lists first, watches from there, and goes on where a connection broke."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from kuberay_e2e.access import Access
from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.observer import WATCHED, Observer
from kuberay_e2e.trace import Trace


def rayjob(uid: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": uid, "namespace": "n", "uid": uid, "resourceVersion": str(version)}, "status": {}}


@dataclass
class Server:
    """An API server whose RayJobs are listed and watched as a test says."""

    items: list[dict[str, Any]] = field(default_factory=list)
    version: int = 1
    watched_from: list[str] = field(default_factory=list)
    events: "asyncio.Queue[tuple[str, dict[str, Any]] | None]" = field(default_factory=asyncio.Queue)
    expired: bool = False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("/rayjobs"):
            if "watch" in request.query:
                await asyncio.sleep(60)
            return web.json_response({"items": [], "metadata": {"resourceVersion": "1"}})
        if "watch" not in request.query:
            return web.json_response({"items": self.items, "metadata": {"resourceVersion": str(self.version)}})
        self.watched_from.append(request.query["resourceVersion"])
        if self.expired:
            self.expired = False
            return web.Response(status=410)
        response = web.StreamResponse()
        await response.prepare(request)
        while (event := await self.events.get()) is not None:
            await response.write(json.dumps({"type": event[0], "object": event[1]}).encode() + b"\n")
        return response


def observe(
    server: Server, body: Callable[[Trace], Awaitable[None]], namespace: str | None = None
) -> list[tuple[str, str]]:
    trace = Trace()

    async def work() -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", server.answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, 0).start()
        try:
            async with Observer(Access(f"http://{LOOPBACK}:{runner.addresses[0][1]}"), trace, namespace):
                await asyncio.wait_for(body(trace), 20)
        finally:
            await runner.cleanup()

    asyncio.run(work())
    return [(event.data["event"], event.data["resource_version"]) for event in trace.events("object")]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def test_what_is_there_is_recorded_before_the_watch_begins() -> None:
    server = Server([rayjob("one", 3)], version=7)

    async def body(trace: Trace) -> None:
        assert len(trace.events("object")) == 1
        await until(lambda: server.watched_from == ["7"])

    assert observe(server, body) == [("ADDED", "3")]


def test_a_broken_watch_goes_on_after_the_last_version_and_records_none_twice() -> None:
    server = Server(version=7)

    async def body(trace: Trace) -> None:
        for event in (
            ("ADDED", rayjob("one", 8)),
            ("MODIFIED", rayjob("one", 9)),
            None,
            ("MODIFIED", rayjob("one", 10)),
        ):
            await server.events.put(event)
        await until(lambda: len(trace.events("object")) == 3)

    assert observe(server, body) == [("ADDED", "8"), ("MODIFIED", "9"), ("MODIFIED", "10")]
    assert server.watched_from[:2] == ["7", "9"]


def test_bookmarks_move_the_watch_on_and_are_not_recorded() -> None:
    server = Server(version=7)

    async def body(_: Trace) -> None:
        await server.events.put(("BOOKMARK", {"metadata": {"resourceVersion": "20"}}))
        await server.events.put(None)
        await until(lambda: server.watched_from == ["7", "20"])

    assert observe(server, body) == []


def test_a_history_that_is_too_old_is_listed_again_and_what_went_meanwhile_is_deleted() -> None:
    server = Server([rayjob("one", 3), rayjob("two", 4)], version=7, expired=True)

    async def body(_: Trace) -> None:
        server.items, server.version = [rayjob("two", 4), rayjob("three", 8)], 9
        await until(lambda: len(server.watched_from) == 2)

    assert observe(server, body) == [("ADDED", "3"), ("ADDED", "4"), ("DELETED", "3"), ("ADDED", "8")]
    assert server.watched_from == ["7", "9"]


def test_one_namespace_is_watched_where_one_is_named() -> None:
    server = Server()
    paths: list[str] = []
    answer = server.answer

    async def record(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        return await answer(request)

    server.answer = record  # type: ignore[method-assign]

    async def body(_: Trace) -> None:
        await until(lambda: len(paths) >= len(WATCHED))

    observe(server, body, "n")
    assert all("/namespaces/n/" in path for path in paths)
