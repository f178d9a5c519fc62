"""The door of a Ray head: the only way to its Jobs API, which keeps the ledger."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.ray.ledger import Deletion, Ledger, Outcome, RayClusterKey, Stop, Submission

CALLER_HEADER = "X-Kuberay-E2e-Caller"
"""Request header that names the caller. Requests without it are the operator's."""

OPERATOR = "operator"

_TAIL = "/logs/tail"
_TAKEN = "Please use a different submission_id"
_MAX_PACKAGE = 512 * 1024 * 1024


@dataclass(frozen=True)
class JobsRequest:
    """A request to the Jobs API. `path` begins with a slash and includes the query, as it came."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Segments of the path, `("api", "jobs", ID, "stop")`; a trailing slash gives an empty last one."""
        return tuple(self.path.partition("?")[0].split("/")[1:])


@dataclass(frozen=True)
class JobsAnswer:
    """An answer of the Jobs API."""

    status: int
    body: bytes
    content_type: str = "application/json"

    @classmethod
    def of(cls, document: object) -> "JobsAnswer":
        """A JSON answer, status 200."""
        return cls(200, json.dumps(document).encode())

    @classmethod
    def text(cls, status: int, text: str) -> "JobsAnswer":
        """An answer in plain text, which is how Ray reports errors."""
        return cls(status, text.encode(), "text/plain")

    def document(self) -> dict[str, Any]:
        """The body as a JSON object; empty where it is none."""
        return _document(self.body)


class TailRefusedError(Exception):
    """Following a log was refused; carries the answer to hand on."""

    def __init__(self, answer: JobsAnswer) -> None:
        super().__init__(f"HTTP {answer.status}")
        self.answer = answer


class TailLostError(Exception):
    """Ray went away while a log was followed."""


class JobsService(Protocol):
    """A Jobs API to put behind a door."""

    async def answer(self, request: JobsRequest) -> JobsAnswer:
        """Answer a request.

        Raises:
            OSError: Nothing answers.
        """
        ...

    def tail(self, submission_id: str) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Follow a job's log to the job's end.

        Raises:
            TailRefusedError: On entry, where there is no such job.
            TailLostError: On iteration, where Ray goes away.
        """
        ...


class Door:
    """An HTTP server on loopback in front of one head's Jobs API.

    Args:
        key: The RayCluster.
        ledger: Gets every submission, stop and deletion with its outcome.
        service: Answers the requests.
    """

    def __init__(self, key: RayClusterKey, ledger: Ledger, service: JobsService) -> None:
        self._key = key
        self._ledger = ledger
        self._service = service
        self._runner: web.AppRunner | None = None

    async def open(self, port: int) -> None:
        """Listen on a loopback port.

        Raises:
            OSError: The port is taken.
        """
        app = web.Application(client_max_size=_MAX_PACKAGE)
        app.router.add_get("/api/jobs/{submission_id}" + _TAIL, self._tail)
        app.router.add_route("*", "/{path:.*}", self._forward)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        self._runner = runner
        await web.TCPSite(runner, LOOPBACK, port).start()

    async def close(self) -> None:
        """Stop listening and drop the connections that are open."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _forward(self, request: web.Request) -> web.Response:
        asked = JobsRequest(
            request.method, request.path_qs, await request.read(), request.headers.get("Content-Type", "")
        )
        at = self._ledger.now()
        try:
            answer = await self._service.answer(asked)
        except OSError as error:
            answer = JobsAnswer.text(502, f"The Ray head of {self._key} does not answer: {error}.")
        self._record(asked, answer, request.headers.get(CALLER_HEADER, OPERATOR), at)
        return web.Response(
            status=answer.status,
            body=answer.body,
            headers={"Content-Type": answer.content_type or "text/plain"},
        )

    async def _tail(self, request: web.Request) -> web.StreamResponse:
        try:
            async with self._service.tail(request.match_info["submission_id"]) as lines:
                socket = web.WebSocketResponse()
                await socket.prepare(request)
                async for text in lines:
                    await socket.send_str(text)
                await socket.close()
                return socket
        except TailRefusedError as refusal:
            answer = refusal.answer
            return web.Response(status=answer.status, body=answer.body, content_type=answer.content_type)
        except (TailLostError, OSError):
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=502)

    def _record(self, asked: JobsRequest, answer: JobsAnswer, caller: str, at: float) -> None:
        match asked.method, asked.parts:
            case "POST", ("api", "jobs", ""):
                sent = _document(asked.body)
                submission_id = sent.get("submission_id") or answer.document().get("submission_id") or ""
                submission = Submission(
                    entrypoint=str(sent.get("entrypoint", "")),
                    caller=caller,
                    outcome=outcome(answer),
                    status_code=answer.status,
                    metadata=_object(sent.get("metadata")),
                    runtime_env=_object(sent.get("runtime_env")),
                )
                self._ledger.record(self._key, str(submission_id), submission, at=at)
            case "POST", ("api", "jobs", submission_id, "stop"):
                stop = Stop(caller, answer.document().get("stopped") is True, answer.status)
                self._ledger.record(self._key, submission_id, stop, at=at)
            case "DELETE", ("api", "jobs", submission_id):
                deletion = Deletion(caller, answer.document().get("deleted") is True, answer.status)
                self._ledger.record(self._key, submission_id, deletion, at=at)
            case _:
                pass


def outcome(answer: JobsAnswer) -> Outcome:
    """What an answer to a submission means.

    Ray answers 500 for a submission id that is taken, with a Python traceback as text; KubeRay's client
    recognises it by the same sentence (dashboard_httpclient.go, SubmitJobReq).
    """
    if 200 <= answer.status < 300:
        return Outcome.ACCEPTED
    return Outcome.DUPLICATE if _TAKEN in answer.body.decode(errors="replace") else Outcome.REFUSED


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
