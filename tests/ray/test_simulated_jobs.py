"""Simulated jobs follow their script to the second, on a clock that the test moves."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from kuberay_e2e.ray import End, JobSpec, Ledger, ManualClock, RayClusterKey, Script
from kuberay_e2e.ray.door import JobsRequest
from kuberay_e2e.ray.jobs import SimulatedJobs

KEY = RayClusterKey("default", "a")


class World:
    def __init__(self, script: Callable[[JobSpec], Script]) -> None:
        self.clock = ManualClock(start=1000.0)
        self.ledger = Ledger(clock=self.clock.now)
        self.jobs = SimulatedJobs(KEY, self.ledger, script, self.clock, "session")

    async def submit(self, submission_id: str, entrypoint: str = "python main.py") -> None:
        body = json.dumps({"entrypoint": entrypoint, "submission_id": submission_id}).encode()
        assert (await self.jobs.answer(JobsRequest("POST", "/api/jobs/", body))).status == 200

    async def details(self, submission_id: str) -> dict[str, Any]:
        return (await self.jobs.answer(JobsRequest("GET", f"/api/jobs/{submission_id}"))).document()

    async def status(self, submission_id: str) -> str:
        return str((await self.details(submission_id))["status"])

    async def end(self, submission_id: str) -> str:
        """Status after at most ten seconds of real time, for ends that the clock does not bring about."""
        for _ in range(1000):
            if (status := await self.status(submission_id)) != "RUNNING":
                return status
            await asyncio.sleep(0.01)
        return "RUNNING"


def drive(script: Callable[[JobSpec], Script], course: Callable[[World], Awaitable[None]]) -> World:
    async def main() -> World:
        world = World(script)
        await course(world)
        await world.jobs.close()
        return world

    return asyncio.run(main())


def test_a_job_with_an_event_runs_on_until_it_is_set() -> None:
    event = threading.Event()

    async def course(world: World) -> None:
        await world.submit("job")
        await world.clock.advance(5)
        await asyncio.sleep(0.1)
        assert await world.status("job") == "RUNNING"
        event.set()
        assert await world.end("job") == "SUCCEEDED"

    drive(lambda _: Script(duration=5, until=event), course)


def test_a_job_with_an_event_can_be_stopped() -> None:
    async def course(world: World) -> None:
        await world.submit("job")
        await world.clock.advance(5)
        await world.jobs.answer(JobsRequest("POST", "/api/jobs/job/stop"))
        assert await world.end("job") == "STOPPED"

    drive(lambda _: Script(duration=5, until=threading.Event()), course)


def test_pending_running_and_end_come_at_the_scripted_seconds() -> None:
    async def course(world: World) -> None:
        await world.submit("job")
        await world.clock.advance(1.9)
        assert await world.status("job") == "PENDING"
        await world.clock.advance(0.1)
        assert await world.status("job") == "RUNNING"
        await world.clock.advance(4.9)
        assert await world.status("job") == "RUNNING"
        await world.clock.advance(0.1)
        assert await world.status("job") == "SUCCEEDED"
        details = await world.details("job")
        assert (details["start_time"], details["end_time"]) == (1_000_000, 1_007_000)

    world = drive(lambda _: Script(duration=5, pending=2), course)

    assert [entry.time for entry in world.ledger.starts("job")] == [1002.0]
    assert [entry.time for entry in world.ledger.ends("job")] == [1007.0]


def test_default_script_succeeds_after_three_seconds() -> None:
    async def course(world: World) -> None:
        await world.submit("job")
        await world.clock.advance(2.9)
        assert await world.status("job") == "RUNNING"
        await world.clock.advance(0.2)
        assert await world.status("job") == "SUCCEEDED"

    drive(lambda _: Script(), course)


def test_script_is_chosen_by_the_submission() -> None:
    async def course(world: World) -> None:
        await world.submit("good", "python good.py")
        await world.submit("bad", "python bad.py")
        await world.clock.advance(3)
        assert await world.status("good") == "SUCCEEDED"
        details = await world.details("bad")
        assert (details["status"], details["driver_exit_code"]) == ("FAILED", 1)
        assert "python bad.py" in details["message"]

    drive(lambda job: Script(end="FAILED" if "bad" in job.entrypoint else "SUCCEEDED"), course)


def test_stop_while_pending_ends_the_job_once_it_runs() -> None:
    async def course(world: World) -> None:
        await world.submit("job")
        await world.jobs.answer(JobsRequest("POST", "/api/jobs/job/stop"))
        await world.clock.advance(1)
        assert await world.status("job") == "STOPPED"

    world = drive(lambda _: Script(duration=100, pending=1), course)
    assert [entry.event for entry in world.ledger.ends("job")] == [End("STOPPED")]


def test_end_of_the_head_loses_what_runs() -> None:
    async def course(world: World) -> None:
        await world.submit("running")
        await world.clock.advance(1)

    world = drive(lambda _: Script(duration=100), course)
    assert [entry.event for entry in world.ledger.ends("running")] == [End("LOST")]
