"""The Jobs API of a real Ray head's dashboard, as the service behind a door."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from kuberay_e2e.ray.door import JobsAnswer, JobsRequest, TailLostError, TailRefusedError
from kuberay_e2e.ray.ledger import End, Ledger, RayClusterKey, Start
from kuberay_e2e.ray.mounts import Mounts

_PERIOD = 0.25
_TERMINAL = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})


class DashboardJobs:
    """Forwards requests to Ray's dashboard, and watches what becomes of the jobs it accepts.

    Args:
        key: The RayCluster.
        ledger: Gets starts and ends of entrypoints.
        url: Base URL of the dashboard.
        logs: Ray's folder of job driver logs.
        mounts: Container paths to replace in the entrypoints that Ray gets.
    """

    def __init__(self, key: RayClusterKey, ledger: Ledger, url: str, logs: Path, mounts: Mounts) -> None:
        self._key = key
        self._ledger = ledger
        self._url = url
        self._logs = logs
        self._mounts = mounts
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._session = aiohttp.ClientSession(trust_env=False)

    async def close(self) -> None:
        """End what is open; entrypoints that were running are lost with their head."""
        for watch in self._watches.values():
            watch.cancel()
        await asyncio.gather(*self._watches.values(), return_exceptions=True)
        await self._session.close()
        for submission_id in self._ledger.running(self._key):
            self._ledger.record(self._key, submission_id, End("LOST"))

    async def answer(self, request: JobsRequest) -> JobsAnswer:
        """Have the dashboard answer."""
        submits = request.method == "POST" and request.parts == ("api", "jobs", "")
        answer = await self._ask(self._localised(request) if submits else request)
        if submits and answer.status == 200:
            submission_id = str(answer.document()["submission_id"])
            entrypoint = str(json.loads(request.body)["entrypoint"])
            self._watches[submission_id] = asyncio.create_task(self._watch(submission_id, entrypoint))
        return answer

    @asynccontextmanager
    async def tail(self, submission_id: str) -> AsyncIterator[AsyncIterator[str]]:
        """Follow a job's log through the dashboard's websocket."""
        path = f"/api/jobs/{submission_id}"
        try:
            async with self._session.ws_connect(f"{self._url}{path}/logs/tail", max_msg_size=0) as socket:
                yield _texts(socket)
        except aiohttp.WSServerHandshakeError as error:
            raise TailRefusedError(await self._ask(JobsRequest("GET", path))) from error

    async def _ask(self, request: JobsRequest) -> JobsAnswer:
        headers = {"Content-Type": request.content_type} if request.content_type else {}
        try:
            async with self._session.request(
                request.method, self._url + request.path, data=request.body or None, headers=headers
            ) as response:
                return JobsAnswer(response.status, await response.read(), response.headers.get("Content-Type", ""))
        except aiohttp.ClientError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error

    def _localised(self, request: JobsRequest) -> JobsRequest:
        try:
            document = json.loads(request.body)
            document["entrypoint"] = self._mounts.rewrite(document["entrypoint"])
        except (ValueError, TypeError, KeyError):
            return request
        return dataclasses.replace(request, body=json.dumps(document).encode())

    async def _watch(self, submission_id: str, entrypoint: str) -> None:
        """Record starts from the lines that Ray's job supervisor logs, and the end from the job's status."""
        started = 0
        while True:
            job = await self._job(submission_id)
            runs = self._runs(submission_id)
            for _ in range(started, runs):
                self._ledger.record(self._key, submission_id, Start(entrypoint))
            started = max(started, runs)
            if job is None:
                return
            if job.get("status") in _TERMINAL:
                code, end_ms = job.get("driver_exit_code"), job.get("end_time")
                end = End(str(job["status"]), code if isinstance(code, int) else None)
                at = end_ms / 1000 if isinstance(end_ms, int) else None
                self._ledger.record(self._key, submission_id, end, at=at)
                return
            await asyncio.sleep(_PERIOD)

    async def _job(self, submission_id: str) -> dict[str, object] | None:
        """The job's details, empty while the dashboard does not answer; None where Ray knows no such job."""
        try:
            answer = await self._ask(JobsRequest("GET", f"/api/jobs/{submission_id}"))
        except OSError:
            return {}
        return None if answer.status == 404 else answer.document()

    def _runs(self, submission_id: str) -> int:
        """How often the supervisor began the entrypoint (job_supervisor.py, _exec_entrypoint)."""
        begun = f"Running entrypoint for job {submission_id}: "
        try:
            with (self._logs / f"job-driver-{submission_id}.log").open(errors="replace") as log:
                return sum(line.startswith(begun) for line in log)
        except FileNotFoundError:
            return 0


async def _texts(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[str]:
    async for message in socket:
        if message.type is aiohttp.WSMsgType.TEXT:
            yield message.data
    if socket.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE:
        raise TailLostError
