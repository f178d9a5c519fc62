"""The `simulated` back end: scripted jobs behind Ray's Jobs API, and submitters that are real processes."""

import sys
from collections.abc import Callable
from pathlib import Path

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray import raycommand, submitters
from kuberay_e2e.ray.backend import Head, RayHeadError, Submitter
from kuberay_e2e.ray.clock import Clock, WallClock
from kuberay_e2e.ray.doors import Doors
from kuberay_e2e.ray.jobs import SimulatedJobs
from kuberay_e2e.ray.ledger import Ledger, RayClusterKey
from kuberay_e2e.ray.script import JobSpec, Script


class SimulatedRay:
    """Ray heads without Ray: see `RayBackend`.

    A submitter's own shell command runs as it stands, with a `ray` on its PATH that knows `ray job`.

    Args:
        folder: Folder of this back end's own; made where it is not there.
        ledger: Gets everything that happens.
        marker: The run that submitter processes belong to.
        script: Chooses what a job does; default: 3 seconds, then SUCCEEDED, no output.
        clock: Where jobs take their time from; default: the machine's clock.
        fails: Whether a submitter fails before it asks Ray for anything; default: none does.
    """

    name = "simulated"

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        *,
        marker: str,
        script: Callable[[JobSpec], Script] = lambda _: Script(),
        clock: Clock | None = None,
        fails: Callable[[Submitter], bool] = lambda _: False,
    ) -> None:
        self.ledger = ledger
        self._marker = marker
        self._script = script
        self._fails = fails
        self._clock = WallClock() if clock is None else clock
        self._programs = _program_folder(folder)
        self._doors = Doors(ledger)
        self._heads: dict[RayClusterKey, SimulatedJobs] = {}

    async def start_head(self, head: Head) -> str:
        """Start a head; it answers at once."""
        if head.key in self._heads:
            raise RayHeadError(f"RayCluster {head.key} has a running head; stop it before another is started.")
        jobs = SimulatedJobs(head.key, self.ledger, self._script, self._clock, f"session_{head.uid}")
        self._heads[head.key] = jobs
        return await self._doors.open(head.key, jobs)

    def door(self, key: RayClusterKey) -> str | None:
        """Base URL of a head's door; None where there is no head."""
        return self._doors.url(key)

    async def stop_head(self, key: RayClusterKey) -> None:
        """End a head and its jobs."""
        jobs = self._heads.pop(key, None)
        if jobs is not None:
            await jobs.close()
            await self._doors.close(key)

    async def run_submitter(self, submitter: Submitter) -> int:
        """Run a submitter Pod's own command to its end, unless it is to fail before."""
        if self._fails(submitter):
            submitter.log.write_text("This submitter fails before it submits, as its script says.\n")
            return 1
        door = self._doors.address(submitter.cluster)
        return await submitters.run(submitter, door, marker=self._marker, path=self._programs)

    async def close(self) -> None:
        """End every head."""
        for key in list(self._heads):
            await self.stop_head(key)


def _program_folder(folder: Path) -> Path:
    """A folder with an executable `ray` that runs `raycommand`."""
    programs = folder / "bin"
    program = programs / "ray"
    try:
        programs.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{raycommand.__file__}" "$@"\n')
        program.chmod(0o755)
    except OSError as error:
        raise HarnessError(f"Cannot write {program}: {error}. Choose a state folder that can be written to.") from error
    return programs
