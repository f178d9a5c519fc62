"""Kueue in a session: its chart applied by Pulumi, its manager run by whoever runs the cluster's pods."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from kuberay_e2e.egress import Egress
from kuberay_e2e.engine import Engine
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace


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
