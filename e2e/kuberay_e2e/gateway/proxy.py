"""The reverse proxy: every request of the operator passes here, in its own order, watches included."""

import asyncio
import base64
from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp
from aiohttp import web

from kuberay_e2e.access import Access
from kuberay_e2e.gateway.answers import Answer, refusal
from kuberay_e2e.gateway.calls import Call, Reply, Tamper, passed
from kuberay_e2e.gateway.faults import STALE_SECONDS, Fault, Position
from kuberay_e2e.gateway.identity import Identifier, WriteIdentity
from kuberay_e2e.gateway.incarnation import Incarnation
from kuberay_e2e.gateway.objects import WatchReader, decode
from kuberay_e2e.gateway.protobuf import ObjectHead
from kuberay_e2e.gateway.rayroute import LOOK, RayDoors, RayRoute
from kuberay_e2e.gateway.requests import ApiRequest
from kuberay_e2e.gateway.upstream import Upstream
from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.trace import Trace

_CLOSING_SECONDS = 0.2
"""How long an open watch may still be served when the gateway closes, seconds."""

_RAY_PATIENCE_SECONDS = 3.0
"""Longer than the 2 s that KubeRay waits for an answer of Ray."""

_DELIVERED = {Position.AFTER, Position.STALE}

_UNENUMERATED = {"events", "leases"}
"""Writes that say something about the operator rather than about a RayJob; recorded, but no fault acts on them."""


class Gateway:
    """Stands between the operator and the API server.

    Args:
        access: The API server.
        trace: Receives every request, response and watch event.
        doors: Finds the Ray head of a RayCluster; None where the API server reaches Ray in real pods by itself.

    Use it as an asynchronous context manager, on one event loop.
    """

    def __init__(self, access: Access, trace: Trace, doors: RayDoors | None) -> None:
        self._trace = trace
        self._upstream = Upstream(access, doors)
        self._faults: list[Fault] = []
        self._tamper: Tamper | None = None
        self._incarnations: dict[int, Incarnation] = {}
        self._identifier = Identifier()
        self._held: dict[str, asyncio.Event] = {}
        self._handling: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> "Gateway":
        await self._upstream.__aenter__()
        server = web.Server(self._serve, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=_CLOSING_SECONDS)
        await self._runner.setup()
        return self

    async def __aexit__(self, *_: object) -> None:
        for incarnation in self._incarnations.values():
            await incarnation.close()
        await self._upstream.__aexit__(*_)
        await self._runner.cleanup()
        for task in self._handling:
            task.cancel()
        await asyncio.gather(*self._handling, return_exceptions=True)

    def arm(self, fault: Fault) -> Fault:
        """Let a fault wait for its write."""
        self._faults.append(fault)
        return fault

    def disarm(self, fault: Fault) -> None:
        """Forget a fault, whether it fired or not."""
        if fault in self._faults:
            self._faults.remove(fault)

    def tamper(self, tamper: Tamper | None) -> None:
        """Put something in the path of all calls but watches; None: nothing."""
        self._tamper = tamper

    @property
    def tampered(self) -> bool:
        """True while something stands in the path of calls."""
        return self._tamper is not None

    async def open(self, token: str) -> Incarnation:
        """Open a port for the operator's next incarnation.

        Args:
            token: Bearer token under which its requests reach the API server.
        """
        site = web.TCPSite(self._runner, LOOPBACK, 0)
        await site.start()
        assert site._server is not None
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        incarnation = Incarnation(len(self._incarnations) + 1, f"http://{LOOPBACK}:{port}", token, _site=site)
        self._incarnations[port] = incarnation
        return incarnation

    async def close(self, incarnation: Incarnation) -> None:
        """Close the port of an incarnation that has ended."""
        await incarnation.close()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """Handle a request to its end, also when its sender has gone; the gateway waits for it when it closes."""
        if request.transport is None:
            return self._drop(request)
        incarnation = self._incarnations[request.transport.get_extra_info("sockname")[1]]
        task = asyncio.ensure_future(self._handle(request, incarnation))
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)
        try:
            return await asyncio.shield(task)
        except ConnectionError:
            return self._drop(request)

    async def _handle(self, request: web.BaseRequest, incarnation: Incarnation) -> web.StreamResponse:
        try:
            call = await Call.read(request, incarnation)
        except ConnectionError:
            return self._drop(request)
        if call.api.verb == "watch":
            number = self._record(call, None)
            return self._drop(request) if number is None else await self._stream(request, call, number)
        reply = await (self._tamper(call, self._carry) if self._tamper else self._carry(call))
        response = await self._deliver(request, reply)
        reply.afterwards()
        return response

    def _record(self, call: Call, write: WriteIdentity | None) -> int | None:
        """Record a call; return its number, or None where its incarnation is dead and it goes no further."""
        api, head = call.api, call.head
        record: dict[str, Any] = {
            "incarnation": call.incarnation.number,
            "verb": api.verb,
            "method": call.method,
            "path": call.path,
            "resource": api.resource,
            "namespace": api.namespace,
            "name": api.name or (head.name or head.generate_name if head else ""),
            "subresource": api.subresource,
        }
        if write is not None and write.verb == LOOK:
            record["look"] = str(write)
        elif write is not None:
            record["write"] = str(write)
            record["write_name"] = write.name
            record["body"] = call.value if call.value is not None else _encoded(call.body)
        if call.incarnation.dead:
            self._trace.add("request", **record, refused="the incarnation is dead")
            return None
        return self._trace.add("request", **record).sequence

    async def _carry(self, call: Call) -> Reply:
        """Record a call, disturb it where a fault waits for it, and have it answered."""
        write = self._write_of(call)
        number = self._record(call, write)
        if number is None:
            return Reply()
        fault = self._claim(write)
        position = fault.position if fault is not None else None
        if fault is not None:
            about = {"fault": str(fault), "write": str(write), "incarnation": call.incarnation.number}
            self._trace.add("fault", of=number, **about)
            if position is Position.BEFORE:
                self._kill(call.incarnation, number)
                return Reply()
            if position is Position.STALE:
                self._hold(call.api.resource)
            if not fault.position.forwards:
                return self._refuse(call, number, fault.position)
        answer, headers = await self._upstream.forward(call)
        self._learn(call.api, answer, headers)
        withheld = call.incarnation.dead or (position is not None and position not in _DELIVERED)
        self._record_answer(number, answer, headers, delivered=not withheld)
        if position is Position.COMMITTED:
            self._kill(call.incarnation, number)
        elif position is Position.TIMEOUT and not call.api.is_proxy:
            return self._refuse(call, number, position)
        elif position is Position.TIMEOUT:
            await asyncio.sleep(_RAY_PATIENCE_SECONDS)
        if withheld:
            return Reply()
        if position is Position.AFTER:
            return Reply(answer, headers, lambda: self._kill(call.incarnation, number))
        return Reply(answer, headers)

    def _write_of(self, call: Call) -> WriteIdentity | None:
        api, value = call.api, call.value
        if api.is_proxy:
            found = RayRoute.call(api, call.method)
            if found is None:
                return None
            to_ray = ApiRequest(found[0], resource="RayJobs", namespace=api.namespace, name=found[1])
            if not found[1] and value:
                to_ray = ApiRequest(found[0], resource="RayJobs", name=str(value.get("submission_id", "")))
            return self._identifier.identify(to_ray, None, None)
        if not api.is_write or api.resource in _UNENUMERATED:
            return None
        return self._identifier.identify(api, call.head, value)

    def _claim(self, write: WriteIdentity | None) -> Fault | None:
        if write is None:
            return None
        return next((fault for fault in self._faults if fault.claims(write)), None)

    def _kill(self, incarnation: Incarnation, number: int) -> None:
        incarnation.kill()
        incarnation.dead = True
        self._trace.add("operator", event="killed", incarnation=incarnation.number, of=number)

    def _hold(self, resource: str) -> None:
        """Hold the watch events of a resource back for a while, so that the operator's cache is stale."""
        held = self._held.setdefault(resource, asyncio.Event())
        held.clear()
        asyncio.get_running_loop().call_later(STALE_SECONDS, held.set)

    def _refuse(self, call: Call, number: int, position: Position) -> Reply:
        """Answer in the API server's place."""
        answer, headers = refusal(position.answer or 500, call.api)
        self._record_answer(number, answer, headers, delivered=True)
        return Reply(answer, headers)

    async def _deliver(self, request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
        if reply.answer is None:
            return self._drop(request)
        response = web.StreamResponse(status=reply.answer.status, headers=reply.headers)
        response.content_length = len(reply.answer.body)
        await response.prepare(request)
        await response.write(reply.answer.body)
        await response.write_eof()
        return response

    def _drop(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=502)

    async def _stream(self, request: web.BaseRequest, call: Call, number: int) -> web.StreamResponse:
        try:
            with call.incarnation.watching():
                return await self._pass_on(request, call, number)
        except (aiohttp.ClientError, ConnectionError):
            return self._drop(request)

    async def _pass_on(self, request: web.BaseRequest, call: Call, number: int) -> web.StreamResponse:
        async with self._upstream.watch(call) as upstream:
            response = web.StreamResponse(status=upstream.status, headers=passed(upstream.headers))
            response.enable_chunked_encoding()
            await response.prepare(request)
            reader = WatchReader(upstream.headers.get("Content-Type", ""))
            async for chunk in upstream.content.iter_any():
                if call.incarnation.dead:
                    return self._drop(request)
                if (held := self._held.get(call.api.resource)) is not None:
                    await held.wait()
                self._record_watch(call.api, number, call.incarnation, reader.feed(chunk))
                await response.write(chunk)
            await response.write_eof()
            return response

    def _record_watch(
        self, api: ApiRequest, number: int, incarnation: Incarnation, events: Iterable[tuple[str, ObjectHead]]
    ) -> None:
        for event, head in events:
            if event != "BOOKMARK" and api.resource not in _UNENUMERATED:
                self._trace.add(
                    "watch",
                    of=number,
                    incarnation=incarnation.number,
                    event=event,
                    resource=api.resource,
                    namespace=head.namespace,
                    name=head.name,
                    resource_version=head.resource_version,
                )

    def _learn(self, api: ApiRequest, answer: Answer, headers: Mapping[str, str]) -> None:
        if api.is_proxy or answer.status >= 300 or "gzip" in headers.get("Content-Encoding", ""):
            return
        if api.is_write or api.verb == "get":
            _, value = decode(answer.body)
            self._identifier.learn(api, value)

    def _record_answer(self, number: int, answer: Answer, headers: Mapping[str, str], *, delivered: bool) -> None:
        head, value = (None, None) if headers.get("Content-Encoding") else decode(answer.body)
        record: dict[str, Any] = {"of": number, "status": answer.status, "delivered": delivered}
        if head is not None and head.kind and not head.kind.endswith("List"):
            record |= {"object_kind": head.kind, "name": head.name, "uid": head.uid}
            record["resource_version"] = head.resource_version
        if value is not None and answer.status >= 400:
            record["message"] = value.get("message", "")
        self._trace.add("response", **record)


def _encoded(body: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(body).decode()} if body else {}
