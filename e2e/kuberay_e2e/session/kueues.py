"""Kueue in a session: its chart applied by Pulumi, its manager run by whoever runs the cluster's pods."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters.stages import APP_NAME, KUEUE
from kuberay_e2e.egress import Egress
from kuberay_e2e.engine import Engine
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace

KUEUE_NAMESPACE = "kueue-system"
KUEUE_DEPLOYMENT = "kueue-controller-manager"

_REQUESTS = {"cpu": "50m", "memory": "128Mi"}
_LIMITS = {"cpu": "1", "memory": "512Mi"}


class Kueue(Protocol):
    """Kueue's managers."""

    @property
    def ready(self) -> int:
        """Number of managers that are ready."""
        ...

    def log(self) -> str:
        """What they logged."""
        ...


class KueueHost(Protocol):
    """How Kueue's managers run, see `OperatorHost`."""

    def run(self, program: Path | None) -> Kueue:
        """Run Kueue from now on wherever its pods are applied.

        Args:
            program: Kueue's binary, which stands for its pods where these are simulated.

        Raises:
            HarnessError: Something that it needs is missing.
        """
        ...

    def arguments(self) -> Mapping[str, Any]:
        """What the Pulumi program is configured with beside the chart, see `kueue` in `stacks/`."""
        ...


class ProcessKueue:
    """Runs Kueue's binary in the place of its simulated pods.

    Args:
        run: Owns its folder and its process.
        kubeconfig: The administrator's access.
        engine: Runs it.
        egress: Connects its Services.
        trace: Receives starts and ends.
    """

    def __init__(self, run: Run, kubeconfig: Path, engine: Engine, egress: Egress, trace: Trace) -> None:
        self._run = run
        self._kubeconfig = kubeconfig
        self._engine = engine
        self._egress = egress
        self._trace = trace
        self._kueue: KueueRunner | None = None

    def run(self, program: Path | None) -> KueueRunner:
        """Start and end the binary with Kueue's pods."""
        if program is None:
            raise HarnessError("Expected Kueue's binary, because pods are simulated here; install it with its program.")
        if self._kueue is None:
            folder = self._run.path("kueue")
            runner = KueueRunner(program, self._kubeconfig, self._egress, folder, self._run.marker, self._trace)
            entered: KueueRunner = self._engine.enter(runner)
            self._kueue = entered
        return self._kueue

    def arguments(self) -> Mapping[str, Any]:
        """The chart's own values."""
        return {}


class PodKueue:
    """Leaves Kueue to Kubernetes, small enough for a laptop.

    Args:
        reader: Reads its Deployment, its pods and their logs.
        load: Takes Kueue's image into the nodes where it is made on this machine.
    """

    def __init__(self, reader: ClusterReader, load: Callable[[], None]) -> None:
        self._reader = reader
        self._load = load

    def run(self, program: Path | None) -> "PodKueue":  # noqa: ARG002 - Kubernetes runs Kueue's image
        """Make Kueue's image available to its pods."""
        self._load()
        return self

    def arguments(self) -> Mapping[str, Any]:
        """One small manager."""
        return {"replicas": 1, "resources": {"requests": _REQUESTS, "limits": _LIMITS}}

    @property
    def ready(self) -> int:
        """Number of managers that are ready."""
        found = self._reader.get("Deployment", KUEUE_NAMESPACE, KUEUE_DEPLOYMENT) or {}
        return int((found.get("status") or {}).get("readyReplicas") or 0)

    def log(self) -> str:
        """What the managers logged."""
        pods = self._reader.list("Pod", KUEUE_NAMESPACE, selector=f"{APP_NAME}={KUEUE}")
        return "\n".join(self._reader.log(KUEUE_NAMESPACE, pod["metadata"]["name"]) for pod in pods)
