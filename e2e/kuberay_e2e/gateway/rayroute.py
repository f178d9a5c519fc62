"""Service-proxy requests: answered from the Ray back end or refused, never passed to the API server.

Pods of the embedded cluster have made-up addresses; a request that the API server passed on would dial one. So the
gateway does what the API server would do up to that dial: it checks the caller's RBAC (`services/proxy`), finds the
Service, and then reaches the Ray head behind it by the back end's own door.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import aiohttp

from kuberay_e2e.gateway.answers import Answer, failure
from kuberay_e2e.gateway.requests import ApiRequest

RAY_CLUSTER_LABEL = "ray.io/cluster"

LOOK = "look"
"""The verb of asking Ray how a job is."""

_JOBS_PATHS = ("/api/jobs", "/api/version")


class RayDoors(Protocol):
    """Finds the Jobs API of a RayCluster's head."""

    def __call__(self, namespace: str, ray_cluster: str) -> str | None:
        """Base URL on loopback; None while no head runs."""
        ...


Review = Callable[[ApiRequest, str], Awaitable[bool]]
Lookup = Callable[[str, str], Awaitable[Mapping[str, Any] | None]]


class RayRoute:
    """Answers `…/services/NAME:PORT/proxy/…` requests.

    Args:
        doors: Finds the Ray head of a RayCluster.
        allowed: Asks the API server whether the bearer of an Authorization header may make a request.
        service: Reads a Service by namespace and name; None where there is none.
        session: Client for loopback.
    """

    def __init__(self, doors: RayDoors, allowed: Review, service: Lookup, session: aiohttp.ClientSession) -> None:
        self._doors = doors
        self._allowed = allowed
        self._service = service
        self._session = session

    @staticmethod
    def call(request: ApiRequest, method: str) -> tuple[str, str] | None:
        """Verb and submission id of a call about a job: `submit`, `stop`, `delete`, or `look` that changes nothing."""
        path = request.tail.rstrip("/")
        if method == "GET" and path.count("/") == 3 and path.startswith("/api/jobs/"):
            return LOOK, path.split("/")[3]
        if method == "POST" and path == "/api/jobs":
            return "submit", ""
        if method == "POST" and path.startswith("/api/jobs/") and path.endswith("/stop"):
            return "stop", path.split("/")[3]
        if method == "DELETE" and path.startswith("/api/jobs/"):
            return "delete", path.split("/")[3]
        return None

    async def answer(
        self, request: ApiRequest, method: str, query: str, authorization: str, body: bytes, content_type: str
    ) -> Answer:
        """Answer one request as the API server's service proxy would."""
        if request.resource != "services" or not request.tail.startswith(_JOBS_PATHS):
            return failure(
                403,
                "Forbidden",
                f"the gateway answers Ray's Jobs API behind Services only, and refuses {method} "
                f"{request.resource}/{request.name}/proxy{request.tail}: nothing listens behind simulated pods",
            )
        name, _ = request.service
        if not await self._allowed(request, authorization):
            return failure(
                403,
                "Forbidden",
                f'services "{request.name}" is forbidden: cannot {request.verb} services/proxy',
            )
        service = await self._service(request.namespace, name)
        if service is None:
            return failure(404, "NotFound", f'services "{name}" not found')
        cluster = ((service.get("spec") or {}).get("selector") or {}).get(RAY_CLUSTER_LABEL, "")
        door = self._doors(request.namespace, cluster)
        if door is None:
            return failure(503, "ServiceUnavailable", f'no endpoints available for service "{request.name}"')
        url = f"{door}{request.tail}" + (f"?{query}" if query else "")
        headers = {"Content-Type": content_type} if content_type else {}
        try:
            async with self._session.request(method, url, data=body or None, headers=headers) as response:
                return Answer(response.status, await response.read(), response.headers.get("Content-Type", ""))
        except aiohttp.ClientError as error:
            return failure(503, "ServiceUnavailable", f"error trying to reach service: {error}")
