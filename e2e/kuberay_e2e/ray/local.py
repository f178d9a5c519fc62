"""The `local` back end: one real Ray head per RayCluster, on loopback."""

import asyncio
from pathlib import Path

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray import submitters
from kuberay_e2e.ray.backend import Head, RayHeadError, Submitter
from kuberay_e2e.ray.dashboard import DashboardJobs
from kuberay_e2e.ray.doors import Doors
from kuberay_e2e.ray.headprocess import HeadProcess
from kuberay_e2e.ray.ledger import Ledger, RayClusterKey
from kuberay_e2e.ray.mounts import Mounts
from kuberay_e2e.ray.programs import interpreter_folder


class LocalRay:
    """Real Ray on this machine: see `RayBackend`.

    Heads and submitters run under a keeper, which ends them with all they started when this process ends,
    however it ends. A killed run leaves folders alone: `remove_leftovers`.

    Args:
        folder: Folder of this back end's own for logs and Ray's temp folders; made where it is not there.
        ledger: Gets everything that happens.
        marker: The run that the processes belong to.
        ray: The `ray` program; default: the one installed beside this Python.

    Raises:
        HarnessError: There is no `ray` program.
    """

    name = "local"

    def __init__(self, folder: Path, ledger: Ledger, *, marker: str, ray: Path | None = None) -> None:
        self.ledger = ledger
        self._folder = folder
        self._marker = marker
        self._ray = interpreter_folder() / "ray" if ray is None else ray
        if not self._ray.is_file():
            raise HarnessError(
                f"Expected the `ray` program at {self._ray}, and it is not there. "
                'Install it into this Python environment: pip install "pulumi-kuberay[e2e]".'
            )
        self._doors = Doors(ledger)
        self._heads: dict[RayClusterKey, tuple[HeadProcess, DashboardJobs | None]] = {}

    async def start_head(self, head: Head) -> str:
        """Start Ray and wait until it answers."""
        if head.key in self._heads:
            raise RayHeadError(f"RayCluster {head.key} has a running head; stop it before another is started.")
        process = HeadProcess(head, self._folder, marker=self._marker, ray=self._ray)
        self._heads[head.key] = process, None
        try:
            await process.start()
            jobs = DashboardJobs(head.key, self.ledger, process.url, process.job_logs, Mounts(head.files))
            self._heads[head.key] = process, jobs
            return await self._doors.open(head.key, jobs)
        except BaseException:
            await asyncio.shield(self.stop_head(head.key))
            raise

    def door(self, key: RayClusterKey) -> str | None:
        """Base URL of a head's door; None while Ray does not answer there."""
        return self._doors.url(key)

    async def stop_head(self, key: RayClusterKey) -> None:
        """End a head with everything that runs on it."""
        process, jobs = self._heads.pop(key, (None, None))
        await self._doors.close(key)
        if jobs is not None:
            await jobs.close()
        if process is not None:
            await process.end()

    async def run_submitter(self, submitter: Submitter) -> int:
        """Run a submitter Pod's own command to its end."""
        door = self._doors.address(submitter.cluster)
        return await submitters.run(submitter, door, marker=self._marker, path=self._ray.parent)

    async def close(self) -> None:
        """End every head."""
        await asyncio.gather(*(self.stop_head(key) for key in list(self._heads)))
