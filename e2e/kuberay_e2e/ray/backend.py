"""What the harness asks of a Ray back end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray.ledger import Ledger, RayClusterKey


class RayHeadError(HarnessError):
    """A Ray head could not be started; the message holds the last lines of its log."""


@dataclass(frozen=True)
class Head:
    """The head of a RayCluster, as its Pod describes it.

    Attributes:
        key: The RayCluster.
        uid: UID of the Pod: a new Pod is a new Ray without the jobs of the one before.
        env: Environment of the Ray container.
        files: Folders and files on this machine by the path at which the container mounts them.
        num_cpus: Logical CPUs that Ray may schedule on; None: the back end's default.
    """

    key: RayClusterKey
    uid: str
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    num_cpus: float | None = None


@dataclass(frozen=True)
class Submitter:
    """The Pod of a submitter Job.

    Attributes:
        namespace: Namespace of the Pod.
        pod: Name of the Pod.
        uid: UID of the Pod.
        cluster: The RayCluster it submits to.
        command: The container's command followed by its args.
        env: Environment of the container.
        log: File that standard output and standard error are appended to.
        files: Folders and files on this machine by the path at which the container mounts them.
    """

    namespace: str
    pod: str
    uid: str
    cluster: RayClusterKey
    command: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)


class RayBackend(Protocol):
    """Ray behind the head Pods of a cluster, reached by one *door* per head.

    A door is an HTTP server on loopback that speaks Ray's Jobs API. Everybody's requests pass it, the
    operator's and the submitters', so that the ledger is complete.
    """

    name: str
    ledger: Ledger

    async def start_head(self, head: Head) -> str:
        """Start Ray and wait until it answers.

        Returns:
            The door's base URL, `http://127.0.0.1:PORT`.

        Raises:
            RayHeadError: Ray did not start, or the RayCluster has a head already.
        """
        ...

    def door(self, key: RayClusterKey) -> str | None:
        """Base URL of a head's door; None while Ray does not answer there."""
        ...

    async def stop_head(self, key: RayClusterKey) -> None:
        """End a head with everything that runs on it. A head that is not there is no error."""
        ...

    async def run_submitter(self, submitter: Submitter) -> int:
        """Run a submitter Pod's own command to its end.

        Returns:
            Its exit code; 128 + N where signal N ended it. Cancellation ends its processes.

        Raises:
            HarnessError: The command cannot be started on this machine.
        """
        ...

    async def close(self) -> None:
        """End every head and submitter."""
        ...
