"""A request of the operator on its way through the gateway, and what comes back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from aiohttp import web
from multidict import CIMultiDict

from kuberay_e2e.gateway.answers import Answer
from kuberay_e2e.gateway.incarnation import Incarnation
from kuberay_e2e.gateway.objects import decode
from kuberay_e2e.gateway.protobuf import ObjectHead
from kuberay_e2e.gateway.requests import ApiRequest, parse

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


@dataclass(frozen=True)
class Call:
    """A request of the operator, read whole.

    Attributes:
        incarnation: Who sent it.
        api: What it asks for.
        method: HTTP method.
        path: Path with its query, as it was sent.
        headers: Headers to be passed on.
        body: The body.
    """

    incarnation: Incarnation
    api: ApiRequest
    method: str
    path: str
    headers: "CIMultiDict[str]"
    body: bytes = b""

    @classmethod
    async def read(cls, request: web.BaseRequest, incarnation: Incarnation) -> "Call":
        """Read a request from its connection."""
        api = parse(request.method, request.path, request.query)
        body = await request.content.read()
        return cls(incarnation, api, request.method, request.raw_path, passed(request.headers), body)

    @property
    def query(self) -> str:
        """The query, as it was sent."""
        return self.path.partition("?")[2]

    @property
    def head(self) -> ObjectHead | None:
        """Type and metadata of the object in the body; None where there is none."""
        return self._decoded[0]

    @property
    def value(self) -> Mapping[str, Any] | None:
        """The object in the body where it is JSON."""
        return self._decoded[1]

    @cached_property
    def _decoded(self) -> tuple[ObjectHead | None, dict[str, Any] | None]:
        return decode(self.body)


@dataclass(frozen=True)
class Reply:
    """What comes back of a call.

    Attributes:
        answer: What is delivered; None where the connection is dropped instead.
        headers: Headers that are passed on.
        afterwards: Called when it is delivered.
    """

    answer: Answer | None = None
    headers: "CIMultiDict[str]" = field(default_factory=CIMultiDict)
    afterwards: Callable[[], None] = lambda: None


Carry = Callable[[Call], Awaitable[Reply]]


class Tamper(Protocol):
    """Stands in the path of every call but watches, and may change, repeat, answer or follow it up.

    What it carries is recorded as if the operator had sent it.
    """

    async def __call__(self, call: Call, carry: Carry) -> Reply:
        """Reply to a call, carrying it or others with `carry`."""
        ...


def passed(headers: Mapping[str, str]) -> "CIMultiDict[str]":
    """The headers that a proxy passes on."""
    kept = CIMultiDict(headers.items())
    for name in _HOP_BY_HOP:
        kept.popall(name, None)
    return kept
