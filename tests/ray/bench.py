"""A Ray back end on an event loop of its own, driven by plain test functions."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from kuberay_e2e.ray import Head, JobSpec, Ledger, RayBackend, RayClusterKey, Script, Submitter

T = TypeVar("T")

CLUSTER = RayClusterKey("default", "counter-abcde")
ADDRESS = "counter-abcde-head-svc.default.svc.cluster.local:8265"
MOUNT = "/home/ray/samples"

COUNTER = """
import ray

ray.init()

@ray.remote
class Counter:
    def __init__(self):
        self.value = 0

    def increment(self):
        self.value += 1
        return f"test_counter got {self.value}"

counter = Counter.remote()
for _ in range(5):
    print(ray.get(counter.increment.remote()))
"""
COUNTED = [f"test_counter got {number}" for number in range(1, 6)]


def scripted(job: JobSpec) -> Script:
    """What the entrypoints of these tests do on a simulated head."""
    if job.entrypoint.startswith("sleep"):
        return Script(duration=1000, pending=0.1)
    if job.entrypoint.startswith("exit"):
        return Script(duration=0.3, pending=0.1, end="FAILED", exit_code=int(job.entrypoint.split()[1]))
    return Script(duration=0.5, pending=0.2, output=COUNTED)


class Bench:
    """A back end with one head, and what a test does to it."""

    def __init__(self, make: Callable[[Path, Ledger], RayBackend], folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger.jsonl")
        self._runner = asyncio.Runner()
        samples = folder / "samples"
        samples.mkdir(parents=True)
        (samples / "counter.py").write_text(COUNTER)
        self.backend = make(folder / "ray", self.ledger)
        self.url = self.run(self.backend.start_head(Head(CLUSTER, "uid-1", files={MOUNT: samples})))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        self.run(self.backend.close())
        self._runner.close()

    def call(self, method: str, path: str, document: object = None, *, body: bytes | None = None) -> tuple[int, Any]:
        """One request to the door; the answer's status and its JSON document or text."""

        async def ask() -> tuple[int, Any]:
            sent = json.dumps(document).encode() if document is not None else body
            headers = {"Content-Type": "application/json"}
            async with (
                aiohttp.ClientSession() as session,
                session.request(method, self.url + path, data=sent, headers=headers) as response,
            ):
                text = await response.text()
                return response.status, json.loads(text) if "json" in response.content_type else text

        return self.run(ask())

    def follow(self, submission_id: str) -> str:
        """All that a job's log websocket sends."""

        async def tail() -> str:
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(f"{self.url}/api/jobs/{submission_id}/logs/tail") as socket,
            ):
                return "".join([message.data async for message in socket])

        return self.run(asyncio.wait_for(tail(), 120))

    def statuses(self, submission_id: str, *, until: set[str]) -> list[str]:
        """The statuses a job goes through, without repetition, up to one of `until`."""

        async def poll() -> list[str]:
            seen: list[str] = []
            async with aiohttp.ClientSession() as session:
                while not seen or seen[-1] not in until:
                    async with session.get(f"{self.url}/api/jobs/{submission_id}") as response:
                        status = (await response.json())["status"]
                    if not seen or status != seen[-1]:
                        seen.append(status)
                    await asyncio.sleep(0.05)
            return seen

        return self.run(asyncio.wait_for(poll(), 120))

    def settle(self, condition: Callable[[], object]) -> None:
        """Give the back end time until something holds, at most 30 seconds."""
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "the condition did not hold within 30 s"
            self.run(asyncio.sleep(0.05))

    def submit_by_pod(self, pod: str, submission_id: str, entrypoint: str) -> tuple[int, str]:
        """Run the submitter Pod that KubeRay would make; its exit code and log."""
        log = self.folder / f"{pod}.log"
        submitter = Submitter(
            namespace=CLUSTER.namespace,
            pod=pod,
            uid=f"uid-{pod}",
            cluster=CLUSTER,
            command=submit_command(submission_id, entrypoint),
            env={
                "PYTHONUNBUFFERED": "1",
                "RAY_DASHBOARD_ADDRESS": ADDRESS,
                "RAY_JOB_SUBMISSION_ID": submission_id,
            },
            log=log,
        )
        code = self.run(self.backend.run_submitter(submitter))
        return code, log.read_text()


def submit_command(submission_id: str, entrypoint: str, address: str = ADDRESS) -> list[str]:
    """The command that KubeRay gives a submitter (BuildJobSubmitCommand, K8sJobMode)."""
    ray = f"--address http://{address}"
    return [
        "/bin/bash",
        "-ce",
        "--",
        f"if ! ray job status {ray} {submission_id} >/dev/null 2>&1 ; then ray job submit {ray} --no-wait "
        '--runtime-env-json "{\\"env_vars\\":{\\"counter_name\\":\\"test_counter\\"}}" '
        f'--metadata-json "{{\\"team\\":\\"ml\\"}}" --submission-id {submission_id} -- {entrypoint} ; fi ; '
        f"ray job logs {ray} --follow {submission_id}",
    ]
