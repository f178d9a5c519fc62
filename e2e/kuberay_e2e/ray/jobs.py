"""Ray's Jobs API without Ray: jobs that follow a script, answers as Ray 2.52 gives them."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from kuberay_e2e.ray.clock import Clock
from kuberay_e2e.ray.door import JobsAnswer, JobsRequest, TailLostError, TailRefusedError
from kuberay_e2e.ray.ledger import End, Ledger, RayClusterKey, Start
from kuberay_e2e.ray.script import JobSpec, Script
from kuberay_e2e.ray.submission import JobSubmitRequest

RAY_VERSION = "2.52.0"
"""The Ray whose answers are reproduced."""

_TERMINAL = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
_MESSAGES = {
    "PENDING": "Job has not started yet.",
    "RUNNING": "Job is currently running.",
    "STOPPED": "Job was intentionally stopped.",
    "SUCCEEDED": "Job finished successfully.",
}
_UNTIL_PERIOD = 0.05
_TAIL_PERIOD = 0.1
_LAST_LINES = 10
_LAST_CHARACTERS = 20_000


@dataclass
class _Job:
    request: JobSubmitRequest
    submission_id: str
    script: Script
    start_ms: int
    logs: str
    status: str = "PENDING"
    message: str = _MESSAGES["PENDING"]
    end_ms: int | None = None
    exit_code: int | None = None
    driver: str | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    course: "asyncio.Task[None] | None" = None

    @property
    def over(self) -> bool:
        return self.status in _TERMINAL

    def details(self) -> dict[str, Any]:
        """The job as `JobDetails` of `ray.dashboard.modules.job.pydantic_models` shows it."""
        ran = self.driver is not None
        driver = {"id": self.driver, "node_ip_address": "127.0.0.1", "pid": "1"}
        return {
            "type": "SUBMISSION",
            "job_id": self.driver,
            "submission_id": self.submission_id,
            "driver_info": driver if ran else None,
            "status": self.status,
            "entrypoint": self.request.entrypoint,
            "message": self.message,
            "error_type": "JOB_ENTRYPOINT_COMMAND_ERROR" if self.status == "FAILED" else None,
            "start_time": self.start_ms,
            "end_time": self.end_ms,
            "metadata": self.request.metadata,
            "runtime_env": self.request.runtime_env,
            "driver_agent_http_address": "http://127.0.0.1:52365" if ran else None,
            "driver_node_id": "0" * 56 if ran else None,
            "driver_exit_code": self.exit_code,
        }


class SimulatedJobs:
    """The jobs of one simulated head.

    Args:
        key: The RayCluster.
        ledger: Gets starts and ends of entrypoints.
        script: Gives each accepted job its course, by submission id and request.
        clock: Where the jobs take their time from.
        session: Name of the Ray session in the version document.
    """

    def __init__(
        self,
        key: RayClusterKey,
        ledger: Ledger,
        script: Callable[[JobSpec], Script],
        clock: Clock,
        session: str,
    ) -> None:
        self._key = key
        self._ledger = ledger
        self._script = script
        self._clock = clock
        self._session = session
        self._jobs: dict[str, _Job] = {}
        self._drivers = 1
        self._closed = False

    async def close(self) -> None:
        """End what runs, as the end of a head does: without a status that anybody could read."""
        self._closed = True
        courses = [job.course for job in self._jobs.values() if job.course is not None]
        for course in courses:
            course.cancel()
        await asyncio.gather(*courses, return_exceptions=True)

    async def answer(self, request: JobsRequest) -> JobsAnswer:
        """Answer a request as Ray's dashboard does (`ray.dashboard.modules.job.job_head`, Ray 2.52)."""
        match request.method, request.parts:
            case "GET", ("api", "version"):
                return self._version()
            case "GET", ("api", "gcs_healthz"):
                return JobsAnswer.text(200, "success")
            case "GET", ("api", "jobs", ""):
                return JobsAnswer.of([job.details() for job in self._jobs.values()])
            case "POST", ("api", "jobs", ""):
                return self._submit(request)
            case method, ("api", "jobs", job_or_submission_id, *rest) if (method, *rest) in _ON_A_JOB:
                job = self._find(job_or_submission_id)
                if job is None:
                    return _unknown(job_or_submission_id)
                return _ON_A_JOB[(method, *rest)](self, job)
            case _:
                return JobsAnswer.text(404, "404: Not Found")

    @asynccontextmanager
    async def tail(self, submission_id: str) -> AsyncIterator[AsyncIterator[str]]:
        """Follow a job's log to the job's end."""
        job = self._find(submission_id)
        if job is None:
            raise TailRefusedError(_unknown(submission_id))
        yield self._follow(job)

    async def _follow(self, job: _Job) -> AsyncIterator[str]:
        sent = 0
        while True:
            over = job.over
            if len(job.logs) > sent:
                yield job.logs[sent:]
                sent = len(job.logs)
            if over:
                return
            if self._closed:
                raise TailLostError
            await asyncio.sleep(_TAIL_PERIOD)

    def _find(self, job_or_submission_id: str) -> _Job | None:
        for job in self._jobs.values():
            if job.driver == job_or_submission_id:
                return job
        return self._jobs.get(job_or_submission_id)

    def _version(self) -> JobsAnswer:
        return JobsAnswer.of(
            {
                "version": "4",
                "ray_version": RAY_VERSION,
                "ray_commit": "simulated",
                "session_name": self._session,
            }
        )

    def _submit(self, request: JobsRequest) -> JobsAnswer:
        try:
            document = json.loads(request.body)
        except ValueError:
            return JobsAnswer.text(500, "500 Internal Server Error\n\nServer got itself in trouble")
        try:
            submitted = JobSubmitRequest.parse(document)
        except TypeError as error:
            return JobsAnswer.text(400, f"Traceback (most recent call last):\n  ...\nTypeError: {error}\n")
        submission_id = submitted.submission_id or f"raysubmit_{secrets.token_hex(8)}"
        if submission_id in self._jobs:
            return _agent_error(
                400,
                f"ValueError: Job with submission_id {submission_id} already exists. "
                "Please use a different submission_id.",
            )
        now = self._clock.now()
        spec = JobSpec(
            submission_id,
            submitted.entrypoint,
            submitted.metadata or {},
            submitted.runtime_env or {},
            attempt=len(self._ledger.accepted()),
        )
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now)) + f",{int(now * 1000) % 1000:03d}"
        logs = f"{stamp}\tINFO job_manager.py:568 -- Runtime env is setting up.\n"
        job = _Job(submitted, submission_id, self._script(spec), int(now * 1000), logs)
        self._jobs[submission_id] = job
        job.course = asyncio.create_task(self._run(job))
        return JobsAnswer.of({"job_id": submission_id, "submission_id": submission_id})

    async def _run(self, job: _Job) -> None:
        await self._clock.sleep(job.script.pending)
        self._drivers += 1
        job.driver = f"{self._drivers:02x}000000"
        job.status, job.message = "RUNNING", _MESSAGES["RUNNING"]
        job.logs += f"Running entrypoint for job {job.submission_id}: {job.request.entrypoint}\n"
        job.logs += "".join(f"{line}\n" for line in job.script.output)
        entrypoint = job.request.entrypoint
        self._ledger.record(self._key, job.submission_id, Start(entrypoint), at=self._clock.now())
        try:
            stopped = await self._stopped_within_course(job)
        except asyncio.CancelledError:
            self._ledger.record(self._key, job.submission_id, End("LOST"), at=self._clock.now())
            raise
        now = self._clock.now()
        job.status = "STOPPED" if stopped else job.script.end
        job.exit_code = None if job.status == "STOPPED" else job.script.code
        job.message = _MESSAGES.get(job.status) or _failure(job)
        job.end_ms = int(now * 1000)
        self._ledger.record(self._key, job.submission_id, End(job.status, job.exit_code), at=now)

    async def _course(self, script: Script) -> None:
        await self._clock.sleep(script.duration)
        while script.until is not None and not await asyncio.to_thread(script.until.wait, _UNTIL_PERIOD):
            pass

    async def _stopped_within_course(self, job: _Job) -> bool:
        elapsed = asyncio.ensure_future(self._course(job.script))
        stop = asyncio.ensure_future(job.stop.wait())
        try:
            await asyncio.wait((elapsed, stop), return_when=asyncio.FIRST_COMPLETED)
            return job.stop.is_set()
        finally:
            elapsed.cancel()
            stop.cancel()

    def _details(self, job: _Job) -> JobsAnswer:
        return JobsAnswer.of(job.details())

    def _logs(self, job: _Job) -> JobsAnswer:
        return JobsAnswer.of({"logs": job.logs})

    def _stop(self, job: _Job) -> JobsAnswer:
        if job.over:
            return JobsAnswer.of({"stopped": False})
        job.stop.set()
        return JobsAnswer.of({"stopped": True})

    def _delete(self, job: _Job) -> JobsAnswer:
        if not job.over:
            return _agent_error(
                500,
                f"RuntimeError: Attempted to delete job '{job.submission_id}', "
                f"but it is in a non-terminal state {job.status}.",
            )
        del self._jobs[job.submission_id]
        return JobsAnswer.of({"deleted": True})


_ON_A_JOB: dict[tuple[str, ...], Callable[[SimulatedJobs, _Job], JobsAnswer]] = {
    ("GET",): SimulatedJobs._details,
    ("GET", "logs"): SimulatedJobs._logs,
    ("POST", "stop"): SimulatedJobs._stop,
    ("DELETE",): SimulatedJobs._delete,
}


def _unknown(job_or_submission_id: str) -> JobsAnswer:
    return JobsAnswer.text(404, f"Job {job_or_submission_id} does not exist")


def _agent_error(status: int, error: str) -> JobsAnswer:
    """An error of the job agent as the dashboard hands it on: 500, the agent's status within a traceback."""
    traceback = "Traceback (most recent call last):\n  ..."
    return JobsAnswer.text(
        500, f"{traceback}\nRuntimeError: Request failed with status code {status}: {traceback}\n{error}\n.\n"
    )


def _failure(job: _Job) -> str:
    last = "".join(job.logs.splitlines(keepends=True)[-_LAST_LINES:])[-_LAST_CHARACTERS:]
    return (
        f"Job entrypoint command failed with exit code {job.exit_code}, "
        f"last available logs (truncated to 20,000 chars):\n{last}"
    )
