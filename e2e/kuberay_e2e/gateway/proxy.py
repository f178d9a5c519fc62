"""The reverse proxy: every request of the operator passes here, in its own order, watches included."""

import asyncio
import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from kuberay_e2e.access import Access
from kuberay_e2e.gateway.answers import Answer, refusal
from kuberay_e2e.gateway.faults import STALE_SECONDS, Fault, Position
from kuberay_e2e.gateway.identity import Identifier, WriteIdentity
from kuberay_e2e.gateway.objects import WatchReader, decode
from kuberay_e2e.gateway.protobuf import ObjectHead
from kuberay_e2e.gateway.rayroute import RayDoors, RayRoute
from kuberay_e2e.gateway.requests import ApiRequest, parse
from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.trace import Trace

_HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "content-length",
    "host",
}
_CLOSING_SECONDS = 0.2
"""How long an open watch may still be served when the gateway closes, seconds."""

_RAY_PATIENCE_SECONDS = 3.0
"""Longer than the 2 s that KubeRay waits for an answer of Ray."""

_DELIVERED = {Position.AFTER, Position.STALE}

_UNENUMERATED = {"events", "leases"}
"""Writes that say something about the operator rather than about a RayJob; recorded, but no fault acts on them."""


@dataclass
class Incarnation:
    """One life of the operator process, and the port that only it uses.

    Attributes:
        number: 1 for the first start, 2 after the first restart, and so on.
        server: Base URL of the API server for this incarnation. It is plain HTTP, over which client-go sends no
            credentials (clientcmd reads them for TLS servers only), so the gateway adds the token.
        token: Bearer token of the operator's ServiceAccount.
        kill: Ends the process with SIGKILL; set when it has started.
        dead: True once it was killed; from then on nothing that arrives is forwarded.
    """

    number: int
    server: str
    token: str = field(repr=False)
    kill: Callable[[], None] = lambda: None
    dead: bool = False
    _site: web.TCPSite | None = field(default=None, repr=False)


class Gateway:
    """Stands between the operator and the API server.

    Args:
        access: The API server.
        trace: Receives every request, response and watch event.
        doors: Finds the Ray head of a RayCluster; None where the API server reaches Ray in real pods by itself.

    Use it as an asynchronous context manager, on one event loop.
    """

    def __init__(self, access: Access, trace: Trace, doors: RayDoors | None) -> None:
        self._access = access
        self._trace = trace
        self._doors = doors
        self._faults: list[Fault] = []
        self._incarnations: dict[int, Incarnation] = {}
        self._identifier = Identifier()
        self._reviews: dict[tuple[str, str, str], bool] = {}
        self._held: dict[str, asyncio.Event] = {}

    async def __aenter__(self) -> "Gateway":
        context = self._access.ssl_context(authenticate=False)
        admin = self._access.ssl_context()
        self._upstream = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context if context is not None else True),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        self._admin = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=admin if admin is not None else True),
            headers={"Authorization": f"Bearer {self._access.token}"} if self._access.token else {},
        )
        self._loopback = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        self._ray = RayRoute(self._doors, self._allowed, self._service, self._loopback) if self._doors else None
        server = web.Server(self._handle, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=_CLOSING_SECONDS)
        await self._runner.setup()
        return self

    async def __aexit__(self, *_: object) -> None:
        for incarnation in self._incarnations.values():
            incarnation.dead = True
        for session in (self._upstream, self._admin, self._loopback):
            await session.close()
        await self._runner.cleanup()

    def arm(self, fault: Fault) -> Fault:
        """Let a fault wait for its write."""
        self._faults.append(fault)
        return fault

    def disarm(self, fault: Fault) -> None:
        """Forget a fault, whether it fired or not."""
        if fault in self._faults:
            self._faults.remove(fault)

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
        incarnation.dead = True
        if incarnation._site is not None:
            await incarnation._site.stop()
            incarnation._site = None

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        incarnation = self._incarnations[request.transport.get_extra_info("sockname")[1]]
        api = parse(request.method, request.path, request.query)
        body = await request.content.read()
        head, value = decode(body)
        write = self._write_of(api, request.method, head, value)
        record: dict[str, Any] = {
            "incarnation": incarnation.number,
            "verb": api.verb,
            "method": request.method,
            "path": request.raw_path,
            "resource": api.resource,
            "namespace": api.namespace,
            "name": api.name or (head.name or head.generate_name if head else ""),
            "subresource": api.subresource,
        }
        if write is not None:
            record["write"] = str(write)
            record["write_name"] = write.name
            record["body"] = value if value is not None else _encoded(body)
        if incarnation.dead:
            self._trace.add("request", **record, refused="the incarnation is dead")
            return self._drop(request)
        number = self._trace.add("request", **record).sequence
        fault = self._claim(write)
        if fault is not None:
            self._trace.add("fault", of=number, fault=str(fault), write=str(write), incarnation=incarnation.number)
            if fault.position is Position.BEFORE:
                return self._kill(incarnation, request, number)
            if fault.position is Position.STALE:
                self._hold(api.resource)
            if not fault.position.forwards:
                return await self._refuse(request, api, number, fault.position)
        if api.verb == "watch":
            return await self._stream(request, api, number, incarnation)
        answer, headers = await self._forward(request, api, body, incarnation)
        self._learn(api, answer, headers)
        withheld = incarnation.dead or (fault is not None and fault.position not in _DELIVERED)
        self._record_answer(number, answer, headers, delivered=not withheld)
        if fault is not None and fault.position is Position.COMMITTED:
            return self._kill(incarnation, request, number)
        if fault is not None and fault.position is Position.TIMEOUT and not api.is_proxy:
            return await self._refuse(request, api, number, fault.position)
        if fault is not None and fault.position is Position.TIMEOUT:
            await asyncio.sleep(_RAY_PATIENCE_SECONDS)
        if withheld:
            return self._drop(request)
        response = await self._deliver(request, answer, headers)
        if fault is not None and fault.position is Position.AFTER:
            return self._kill(incarnation, request, number)
        return response

    def _write_of(
        self, api: ApiRequest, method: str, head: ObjectHead | None, value: Mapping[str, Any] | None
    ) -> WriteIdentity | None:
        if api.is_proxy:
            found = RayRoute.write(api, method)
            if found is None:
                return None
            call = ApiRequest(found[0], resource="RayJobs", namespace=api.namespace, name=found[1])
            if not found[1] and value:
                call = ApiRequest(found[0], resource="RayJobs", name=str(value.get("submission_id", "")))
            return self._identifier.identify(call, None, None)
        if not api.is_write or api.resource in _UNENUMERATED:
            return None
        return self._identifier.identify(api, head, value)

    def _claim(self, write: WriteIdentity | None) -> Fault | None:
        if write is None:
            return None
        return next((fault for fault in self._faults if fault.claims(write)), None)

    def _kill(self, incarnation: Incarnation, request: web.BaseRequest, number: int) -> web.StreamResponse:
        incarnation.kill()
        incarnation.dead = True
        self._trace.add("operator", event="killed", incarnation=incarnation.number, of=number)
        return self._drop(request)

    def _hold(self, resource: str) -> None:
        """Hold the watch events of a resource back for a while, so that the operator's cache is stale."""
        held = self._held.setdefault(resource, asyncio.Event())
        held.clear()
        asyncio.get_running_loop().call_later(STALE_SECONDS, held.set)

    async def _refuse(
        self, request: web.BaseRequest, api: ApiRequest, number: int, position: Position
    ) -> web.StreamResponse:
        """Answer in the API server's place."""
        answer, headers = refusal(position.answer or 500, api)
        self._record_answer(number, answer, headers, delivered=True)
        return await self._deliver(request, answer, headers)

    async def _deliver(
        self, request: web.BaseRequest, answer: Answer, headers: "CIMultiDict[str]"
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.content_length = len(answer.body)
        await response.prepare(request)
        await response.write(answer.body)
        await response.write_eof()
        return response

    def _drop(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=502)

    async def _forward(
        self, request: web.BaseRequest, api: ApiRequest, body: bytes, incarnation: Incarnation
    ) -> tuple[Answer, "CIMultiDict[str]"]:
        headers = _authenticated(request, incarnation)
        if api.is_proxy and self._ray is not None:
            answer = await self._ray.answer(
                api,
                request.method,
                request.query_string,
                headers["Authorization"],
                body,
                request.headers.get("Content-Type", ""),
            )
            return answer, CIMultiDict({"Content-Type": answer.content_type})
        if api.is_write:
            headers.popall("Accept-Encoding", None)
        try:
            async with self._upstream.request(
                request.method,
                self._url(request),
                headers=headers,
                data=body or None,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept-Encoding", "Content-Type"),
            ) as upstream:
                content = await upstream.read()
                return Answer(upstream.status, content), _passed(upstream.headers)
        except aiohttp.ClientError as error:
            message = f"the API server at {self._access.server} did not answer: {error}"
            return Answer(502, message.encode()), CIMultiDict({"Content-Type": "text/plain"})

    async def _stream(
        self, request: web.BaseRequest, api: ApiRequest, number: int, incarnation: Incarnation
    ) -> web.StreamResponse:
        headers = _authenticated(request, incarnation)
        headers.popall("Accept-Encoding", None)
        try:
            async with self._upstream.get(
                self._url(request), headers=headers, skip_auto_headers=("User-Agent", "Accept-Encoding")
            ) as upstream:
                response = web.StreamResponse(status=upstream.status, headers=_passed(upstream.headers))
                response.enable_chunked_encoding()
                await response.prepare(request)
                reader = WatchReader(upstream.headers.get("Content-Type", ""))
                async for chunk in upstream.content.iter_any():
                    if incarnation.dead:
                        break
                    if (held := self._held.get(api.resource)) is not None:
                        await held.wait()
                    self._record_watch(api, number, incarnation, reader.feed(chunk))
                    await response.write(chunk)
                else:
                    await response.write_eof()
                    return response
        except (aiohttp.ClientError, ConnectionError):
            pass
        return self._drop(request)

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

    def _url(self, request: web.BaseRequest) -> URL:
        return URL(self._access.server + request.raw_path, encoded=True)

    async def _allowed(self, api: ApiRequest, authorization: str) -> bool:
        key = (authorization, api.verb, api.namespace)
        if key not in self._reviews:
            review = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {
                    "resourceAttributes": {
                        "verb": api.verb,
                        "resource": "services",
                        "subresource": "proxy",
                        "namespace": api.namespace,
                    }
                },
            }
            url = f"{self._access.server}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            async with self._upstream.post(
                url,
                data=json.dumps(review),
                headers={"Authorization": authorization, "Content-Type": "application/json"},
            ) as answer:
                if answer.status != 201:
                    return False
                self._reviews[key] = bool(json.loads(await answer.read())["status"].get("allowed"))
        return self._reviews[key]

    async def _service(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        url = f"{self._access.server}/api/v1/namespaces/{quote(namespace)}/services/{quote(name)}"
        async with self._admin.get(url) as answer:
            if answer.status != 200:
                return None
            found: Mapping[str, Any] = await answer.json()
            return found


def _passed(headers: Mapping[str, str]) -> "CIMultiDict[str]":
    passed = CIMultiDict(headers.items())
    for name in _HOP_BY_HOP:
        passed.popall(name, None)
    return passed


def _authenticated(request: web.BaseRequest, incarnation: Incarnation) -> "CIMultiDict[str]":
    headers = _passed(request.headers)
    headers["Authorization"] = f"Bearer {incarnation.token}"
    return headers


def _encoded(body: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(body).decode()} if body else {}
