"""What a sweep stands on: how the pods of its runs come about, and how it is known what their jobs did."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from kuberay_e2e.gateway import Gateway
from kuberay_e2e.ray import JobSpec, RayClusterKey, Script, Submitter
from kuberay_e2e.ray.ledger import AnyEntry
from kuberay_e2e.session import Session
from kuberay_e2e.trace import Trace


class Stage(Protocol):
    """One run's share of the ground.

    Attributes:
        pace: How many times longer than on simulated pods something may take.
    """

    pace: float

    def workload(self, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """The RayJob as it is created here, from what the scenario asks for."""

    def ledger(self) -> Sequence[AnyEntry]:
        """What Ray was asked to do and did in this run's namespace."""

    def close(self) -> None:
        """Leave nothing behind."""


class Ground(Protocol):
    """Where runs take place.

    Attributes:
        session: The cluster, with the operator applied and not started.
    """

    session: Session

    def gateway(self, trace: Trace) -> Gateway:
        """A gateway for the operator of one run, not entered yet."""

    def stage(self, namespace: str, trace: Trace, scripts: Sequence[Script], /) -> Stage:
        """Make ready what the jobs of a run need.

        Args:
            namespace: The run's namespace, which exists.
            trace: The run's trace.
            scripts: What each attempt of the job does, the last one repeated.
        """


class SimulatedGround:
    """Simulated pods and a simulated Ray, on an embedded control plane.

    Args:
        session: The session, made with `choose` as its script.
        choose: What its simulated jobs do.
    """

    def __init__(self, session: Session, choose: "RunScripts") -> None:
        self.session = session
        self._choose = choose

    def gateway(self, trace: Trace) -> Gateway:
        """A gateway that finds Ray behind the doors of the simulated heads."""
        backend = self.session.backend
        return Gateway(self.session.access, trace, lambda namespace, name: backend.door(RayClusterKey(namespace, name)))

    def stage(self, namespace: str, _trace: Trace, scripts: Sequence[Script], /) -> Stage:
        """The run's scripts, chosen by an entrypoint that names its namespace."""
        entrypoint = f"python main.py --run {namespace}"
        self._choose.register(entrypoint, scripts)
        return _SimulatedStage(self.session, namespace, entrypoint, lambda: self._choose.forget(entrypoint))


class _SimulatedStage:
    pace = 1.0

    def __init__(self, session: Session, namespace: str, entrypoint: str, forget: Callable[[], None]) -> None:
        self._session = session
        self._namespace = namespace
        self._entrypoint = entrypoint
        self.close = forget

    def workload(self, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """The manifest, with an entrypoint by which its script is found."""
        spec = manifest["spec"]
        if "entrypoint" not in spec:
            return manifest
        return {**manifest, "spec": {**spec, "entrypoint": self._entrypoint}}

    def ledger(self) -> Sequence[AnyEntry]:
        """What the back end recorded of the namespace."""
        return [entry for entry in self._session.ledger.entries if entry.cluster.namespace == self._namespace]


class RunScripts:
    """Gives each attempt of a run's job its script; a job that nobody registered takes half a second."""

    def __init__(self) -> None:
        self._scripts: dict[str, Sequence[Script]] = {}
        self._attempts: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._lock = threading.Lock()

    def register(self, entrypoint: str, scripts: Sequence[Script]) -> None:
        """Choose the scripts of an entrypoint: one for each attempt, the last one for all further ones."""
        with self._lock:
            self._scripts[entrypoint] = scripts
            self._attempts[entrypoint] = self._failed[entrypoint] = 0

    def forget(self, entrypoint: str) -> None:
        """Drop the scripts of an entrypoint."""
        with self._lock:
            self._scripts.pop(entrypoint, None)
            self._attempts.pop(entrypoint, None)
            self._failed.pop(entrypoint, None)

    def __call__(self, job: JobSpec) -> Script:
        """The script of a job that was accepted."""
        with self._lock:
            if not self._scripts.get(job.entrypoint):
                return Script(duration=0.5)
            script = self._next(job.entrypoint)
            self._attempts[job.entrypoint] += 1
            self._failed[job.entrypoint] = 0
            return script

    def submitter_fails(self, submitter: Submitter) -> bool:
        """Whether a submitter is one of those that fail before the next job of its entrypoint is submitted."""
        command = " ".join(submitter.command)
        with self._lock:
            entrypoint = next((name for name in self._scripts if name in command), "")
            if not entrypoint or self._failed[entrypoint] >= self._next(entrypoint).failed_submitters:
                return False
            self._failed[entrypoint] += 1
            return True

    def _next(self, entrypoint: str) -> Script:
        scripts = self._scripts[entrypoint]
        return scripts[min(self._attempts[entrypoint], len(scripts) - 1)]
