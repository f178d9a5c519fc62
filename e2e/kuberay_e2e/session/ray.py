"""What a session knows about Ray: the evidence of what it was asked and did, and the output of its jobs."""

from typing import Protocol

import httpx

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray import Ledger, RayBackend, RayClusterKey
from kuberay_e2e.ray.observed import logs_of

_LOG_SECONDS = 30


class RayWitness(Protocol):
    """Ray behind the head pods, as far as it can be seen.

    Attributes:
        ledger: What Ray was asked to do and did.
    """

    ledger: Ledger

    def job_output(self, key: RayClusterKey, submission_id: str) -> str:
        """What a job printed, as Ray's Jobs API has it.

        Raises:
            HarnessError: Ray does not run, or knows no such job.
        """
        ...


class DoorWitness:
    """Ray back ends of the harness, each behind a door that everybody's requests pass.

    Args:
        backend: The back end.
    """

    def __init__(self, backend: RayBackend) -> None:
        self._backend = backend
        self.ledger = backend.ledger

    def job_output(self, key: RayClusterKey, submission_id: str) -> str:
        """What a job printed, see `RayWitness`."""
        door = self._backend.door(key)
        if door is None:
            raise HarnessError(f"Expected Ray to run for the RayCluster {key}; it does not.")
        answer = httpx.get(f"{door}/api/jobs/{submission_id}/logs", trust_env=False, timeout=_LOG_SECONDS)
        return logs_of(answer, submission_id)
