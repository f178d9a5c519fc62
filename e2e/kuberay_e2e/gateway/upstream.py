"""What is behind the gateway: the API server, and Ray behind Services of simulated pods."""

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from kuberay_e2e.access import Access
from kuberay_e2e.gateway.answers import Answer
from kuberay_e2e.gateway.calls import Call, passed
from kuberay_e2e.gateway.rayroute import RayDoors, RayRoute
from kuberay_e2e.gateway.requests import ApiRequest


class Upstream:
    """Forwards calls in the name of the incarnation that sent them.

    Args:
        access: The API server.
        doors: Finds the Ray head of a RayCluster; None where the API server reaches Ray in real pods by itself.

    Use it as an asynchronous context manager.
    """

    def __init__(self, access: Access, doors: RayDoors | None) -> None:
        self.access = access
        self._doors = doors
        self._reviews: dict[tuple[str, str, str], bool] = {}

    async def __aenter__(self) -> "Upstream":
        context = self.access.ssl_context(authenticate=False)
        admin = self.access.ssl_context()
        self._stack = AsyncExitStack()
        enter = self._stack.enter_async_context
        self._operator = await enter(
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=context if context is not None else True),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
            )
        )
        self._admin = await enter(
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=admin if admin is not None else True),
                headers={"Authorization": f"Bearer {self.access.token}"} if self.access.token else {},
            )
        )
        loopback = await enter(aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)))
        self._ray = RayRoute(self._doors, self._allowed, self._service, loopback) if self._doors else None
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def forward(self, call: Call) -> tuple[Answer, "CIMultiDict[str]"]:
        """Have a call answered by the API server or by Ray; 502 where the API server does not answer."""
        headers = _authenticated(call)
        if call.api.is_proxy and self._ray is not None:
            answer = await self._ray.answer(
                call.api,
                call.method,
                call.query,
                headers["Authorization"],
                call.body,
                headers.get("Content-Type", ""),
            )
            return answer, CIMultiDict({"Content-Type": answer.content_type})
        if call.api.is_write:
            headers.popall("Accept-Encoding", None)
        try:
            async with self._operator.request(
                call.method,
                self._url(call),
                headers=headers,
                data=call.body or None,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept-Encoding", "Content-Type"),
            ) as upstream:
                content = await upstream.read()
                return Answer(upstream.status, content), passed(upstream.headers)
        except aiohttp.ClientError as error:
            message = f"the API server at {self.access.server} did not answer: {error}"
            return Answer(502, message.encode()), CIMultiDict({"Content-Type": "text/plain"})

    def watch(self, call: Call) -> Any:
        """Open a watch; an asynchronous context manager of its response."""
        headers = _authenticated(call)
        headers.popall("Accept-Encoding", None)
        return self._operator.get(self._url(call), headers=headers, skip_auto_headers=("User-Agent", "Accept-Encoding"))

    def _url(self, call: Call) -> URL:
        return URL(self.access.server + call.path, encoded=True)

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
            url = f"{self.access.server}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            async with self._operator.post(
                url,
                data=json.dumps(review),
                headers={"Authorization": authorization, "Content-Type": "application/json"},
            ) as answer:
                if answer.status != 201:
                    return False
                self._reviews[key] = bool(json.loads(await answer.read())["status"].get("allowed"))
        return self._reviews[key]

    async def _service(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        url = f"{self.access.server}/api/v1/namespaces/{quote(namespace)}/services/{quote(name)}"
        async with self._admin.get(url) as answer:
            if answer.status != 200:
                return None
            found: Mapping[str, Any] = await answer.json()
            return found


def _authenticated(call: Call) -> "CIMultiDict[str]":
    """The headers of a call with its incarnation's token."""
    headers = call.headers.copy()
    headers["Authorization"] = f"Bearer {call.incarnation.token}"
    return headers
