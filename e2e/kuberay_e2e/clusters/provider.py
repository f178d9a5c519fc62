"""What the harness asks of a cluster, whoever provides it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kuberay_e2e.state import Run


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        name: Name of the cluster.
        kubeconfig: File with the administrator's access, in the run's own folder.
        simulated_pods: True where no kubelet runs containers, so that the harness itself has to run the
            operator and Ray as processes.
        pod_logs: Folder in which the harness keeps the logs of the pods that it runs; None where a kubelet does.
    """

    name: str
    kubeconfig: Path
    simulated_pods: bool
    pod_logs: Path | None = None


class ClusterProvider(Protocol):
    """Makes a cluster for a run and takes it down completely."""

    name: str

    def up(self, run: Run) -> AbstractContextManager[Cluster]:
        """Create a cluster that is gone, with all its processes, when the block ends.

        Raises:
            HarnessError: The cluster did not come up; the message says why.
        """
        ...
