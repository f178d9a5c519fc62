"""Ray in real pods, as far as it can be seen from outside: the evidence of what it was asked to do and did.

Nobody's requests pass the harness here, so the ledger is written from what is left of them:

- The list of Ray's Jobs API, read twice a second through the API server's service proxy, has one entry for each
  submission that Ray accepted. A start time that changes, and an entry that comes back after it was gone, is another
  acceptance; a status beyond PENDING, or a result of the entrypoint, is a start.
- The log of a submitter pod has the refusal of a submission whose id was taken.
- Where the operator's requests pass the gateway, its own refused submissions are in the trace.

What cannot be seen: what happened on a head that went away within half a second; two starts of one entrypoint within
one submission, which Ray has no way to make; a refused submission by an operator that runs in a pod, or by somebody
outside the cluster; who submitted. Such a life cycle says "one submission" by what Ray itself remembers, not by every
request that was sent.
"""

import asyncio
import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray.ledger import End, Ledger, Outcome, RayClusterKey, Start, Submission
from kuberay_e2e.trace import Event, Trace

_POLL_SECONDS = 0.5
_TIMEOUT_SECONDS = 10.0
_PORT = "dashboard"
_ENDS = {"SUCCEEDED", "FAILED", "STOPPED"}
_REFUSED = re.compile(r"Job with submission_id (?P<id>\S+) already exists")
_OPERATOR = "operator"

OBSERVED = "observed"
"""Who submitted a job that a head lists: a real Ray does not tell."""

Jobs = Mapping[str, Mapping[str, Any]]
"""Jobs of a head by their submission ids, as the Jobs API lists them."""


class JobsHistory:
    """Turns successive lists of one head's jobs into entries of a ledger.

    Args:
        key: The RayCluster.
        ledger: Receives the entries.
    """

    def __init__(self, key: RayClusterKey, ledger: Ledger) -> None:
        self._key = key
        self._ledger = ledger
        self._known: dict[str, tuple[Any, bool, bool]] = {}

    def see(self, jobs: Jobs) -> None:
        """Take the list as it is now."""
        for submission_id in set(self._known) - set(jobs):
            self._lost(submission_id)
        for submission_id, job in jobs.items():
            self._see(submission_id, job)

    def leave(self) -> None:
        """The head is gone with everything that ran on it."""
        for submission_id in list(self._known):
            self._lost(submission_id)

    def _see(self, submission_id: str, job: Mapping[str, Any]) -> None:
        known = self._known.get(submission_id)
        if known is not None and known[0] != job.get("start_time"):
            self._lost(submission_id)
            known = None
        begun = seconds(job.get("start_time"))
        entrypoint = str(job.get("entrypoint") or "")
        if known is None:
            metadata, runtime_env = job.get("metadata") or {}, job.get("runtime_env") or {}
            accepted = Submission(entrypoint, OBSERVED, Outcome.ACCEPTED, 200, metadata, runtime_env)
            self._ledger.record(self._key, submission_id, accepted, at=begun)
        started, ended = known[1:] if known else (False, False)
        if not started and has_started(job):
            self._ledger.record(self._key, submission_id, Start(entrypoint), at=begun)
            started = True
        if started and not ended and job.get("status") in _ENDS:
            end = End(str(job["status"]), job.get("driver_exit_code"))
            self._ledger.record(self._key, submission_id, end, at=seconds(job.get("end_time")))
            ended = True
        self._known[submission_id] = (job.get("start_time"), started, ended)

    def _lost(self, submission_id: str) -> None:
        _, started, ended = self._known.pop(submission_id)
        if started and not ended:
            self._ledger.record(self._key, submission_id, End("LOST"))


class ObservedRay:
    """Watches the Ray heads of a cluster's real pods.

    Args:
        access: The API server.
        trace: Shows RayClusters, submitter pods and, with a gateway, the operator's calls to Ray.
        ledger: Receives the evidence.
        logs: Folder that receives the logs of submitter pods.

    Use it as an asynchronous context manager.
    """

    def __init__(self, access: Access, trace: Trace, ledger: Ledger, logs: Path) -> None:
        self.ledger = ledger
        self._access = access
        self._trace = trace
        self._logs = logs
        self._heads: dict[RayClusterKey, str] = {}
        self._histories: dict[RayClusterKey, JobsHistory] = {}
        self._submitters: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._submissions: dict[int, Mapping[str, Any]] = {}
        self._done: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        context = self._access.ssl_context()
        self._client = httpx.AsyncClient(
            base_url=self._access.server,
            verify=context if context is not None else False,
            headers={"Authorization": f"Bearer {self._access.token}"} if self._access.token else {},
            timeout=_TIMEOUT_SECONDS,
            trust_env=False,
        )
        self._trace.listen(self._notice)
        self._tasks = [asyncio.create_task(self._poll()), asyncio.create_task(self._read_submitters())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()

    def job_output(self, key: RayClusterKey, submission_id: str) -> str:
        """What a job printed, as Ray's Jobs API has it.

        Raises:
            HarnessError: Ray does not run, or knows no such job.
        """
        with self._access.client(timeout=_TIMEOUT_SECONDS) as client:
            service = self._heads.get(key) or _service(client, key)
            answer = client.get(f"{jobs_path(key.namespace, service)}{submission_id}/logs")
        return logs_of(answer, submission_id)

    def _notice(self, event: Event) -> None:
        data = event.data
        if event.kind == "object" and data["object_kind"] == "RayCluster":
            self._notice_cluster(data)
        elif event.kind == "object" and data["object_kind"] == "Pod" and "Job" in data.get("owner_kinds", ()):
            over = data["phase"] in {"Succeeded", "Failed"} or data["deletion"]
            if over and data["uid"] not in self._done:
                self._done.add(data["uid"])
                self._loop.call_soon_threadsafe(self._submitters.put_nowait, data)
        elif event.kind == "request" and str(data.get("write", "")).startswith("submit:"):
            self._submissions[event.sequence] = data
        elif event.kind == "response" and data["of"] in self._submissions:
            self._notice_answer(self._submissions.pop(data["of"]), data["status"])

    def _notice_cluster(self, data: Mapping[str, Any]) -> None:
        key = RayClusterKey(data["namespace"], data["name"])
        service = ((data.get("status") or {}).get("head") or {}).get("serviceName")
        if data["event"] == "DELETED":
            self._heads.pop(key, None)
        elif service:
            self._heads[key] = service

    def _notice_answer(self, request: Mapping[str, Any], status: int) -> None:
        """Record a submission of the operator that Ray refused; what it accepted is in its list."""
        body = request.get("body") or {}
        if status < 400 or not isinstance(body, Mapping) or status in {502, 503, 504}:
            return
        clusters = [key for key, service in self._heads.items() if request["name"].startswith(service)]
        if clusters:
            refused = Submission(str(body.get("entrypoint", "")), _OPERATOR, Outcome.REFUSED, status)
            self.ledger.record(clusters[0], str(body.get("submission_id", "")), refused)

    async def _poll(self) -> None:
        while True:
            for key in set(self._histories) - set(self._heads):
                self._histories.pop(key).leave()
            await asyncio.gather(*(self._look(key, service) for key, service in list(self._heads.items())))
            await asyncio.sleep(_POLL_SECONDS)

    async def _look(self, key: RayClusterKey, service: str) -> None:
        try:
            answer = await self._client.get(jobs_path(key.namespace, service))
            jobs = by_submission_id(answer.json()) if answer.is_success else None
        except (httpx.HTTPError, ValueError):
            return
        if jobs is not None:
            self._histories.setdefault(key, JobsHistory(key, self.ledger)).see(jobs)

    async def _read_submitters(self) -> None:
        while True:
            pod = await self._submitters.get()
            with contextlib.suppress(httpx.HTTPError, OSError):
                answer = await self._client.get(f"/api/v1/namespaces/{pod['namespace']}/pods/{pod['name']}/log")
                if answer.is_success:
                    self._logs.mkdir(parents=True, exist_ok=True)
                    (self._logs / f"{pod['namespace']}-{pod['name']}.log").write_text(answer.text)
                    self._record_refusals(pod, answer.text)

    def _record_refusals(self, pod: Mapping[str, Any], log: str) -> None:
        for submission_id in refusals(log):
            cluster = next(
                (entry.cluster for entry in self.ledger.submissions(submission_id)), RayClusterKey(pod["namespace"], "")
            )
            refused = Submission("", f"submitter/{pod['name']}", Outcome.DUPLICATE, 0)
            self.ledger.record(cluster, submission_id, refused)


def jobs_path(namespace: str, service: str) -> str:
    """Path of the Jobs API behind a head's Service, by the API server's service proxy."""
    return f"/api/v1/namespaces/{namespace}/services/{service}:{_PORT}/proxy/api/jobs/"


def by_submission_id(listed: Any) -> Jobs | None:
    """The jobs of a list by their submission ids, without drivers that nobody submitted; None for another answer."""
    if not isinstance(listed, list):
        return None
    return {job["submission_id"]: job for job in listed if isinstance(job, Mapping) and job.get("submission_id")}


def has_started(job: Mapping[str, Any]) -> bool:
    """True where the entrypoint of a job has begun to run.

    A job that fails before, such as in the set-up of its runtime environment, has no driver and no exit code.
    """
    if job.get("status") in {"RUNNING", "SUCCEEDED"}:
        return True
    return job.get("status") in _ENDS and (job.get("driver_exit_code") is not None or bool(job.get("driver_info")))


def refusals(log: str) -> list[str]:
    """Submission ids that a submitter's log says were taken; a traceback says so more than once."""
    return list(dict.fromkeys(match["id"] for match in _REFUSED.finditer(log)))


def seconds(milliseconds: Any) -> float | None:
    """Seconds since the epoch of a time of the Jobs API; None where there is none."""
    return milliseconds / 1000 if isinstance(milliseconds, int | float) and milliseconds else None


def logs_of(answer: httpx.Response, submission_id: str) -> str:
    """The output in an answer of Ray's Jobs API.

    Raises:
        HarnessError: The answer holds none.
    """
    if not answer.is_success:
        raise HarnessError(
            f"Expected the log of the job {submission_id!r}, got {answer.status_code}: {answer.text[:300]}"
        )
    logs: str = answer.json().get("logs") or ""
    return logs


def _service(client: httpx.Client, key: RayClusterKey) -> str:
    answer = client.get(f"/apis/ray.io/v1/namespaces/{key.namespace}/rayclusters/{key.name}")
    found = (answer.json().get("status") or {}).get("head") or {} if answer.is_success else {}
    if not found.get("serviceName"):
        raise HarnessError(f"Expected Ray to run for the RayCluster {key}; it has no head Service.")
    return str(found["serviceName"])
