"""The operator as the pod of its Deployment, killed when a watch shows its write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kuberay_e2e.access import Access
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Fault, Gateway
from kuberay_e2e.operator_lives import Killer
from kuberay_e2e.operator_pod import OperatorPod
from kuberay_e2e.session import watched_writes
from kuberay_e2e.session.programs import Installation, Programs
from kuberay_e2e.session.watched_writes import WatchedWrites
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Event, Trace

_REQUESTS = {"cpu": "50m", "memory": "128Mi"}
_LIMITS = {"cpu": "1", "memory": "512Mi"}
"""A tenth of a core, the chart's own limit, lets a start take half a minute on a loaded node."""

_READINESS = {"initialDelaySeconds": 1, "periodSeconds": 1, "failureThreshold": 30}
"""The chart's own probe waits ten seconds before it first asks, at the start and after each kill."""


class PodHost:
    """Leaves the operator to Kubernetes, as users do, and kills its container from outside.

    Args:
        run: Owns the folder of its logs.
        programs: The operator's files.
        access: The API server.
        killer: Ends its container.
        trace: Shows what the cluster stored, and receives starts and ends.
        installation: Where the Deployment is.
    """

    def __init__(
        self,
        run: Run,
        programs: Programs,
        access: Access,
        killer: Killer,
        trace: Trace,
        *,
        installation: Installation,
    ) -> None:
        self.gateway: Gateway | None = None
        self.operator: OperatorPod | None = None
        self._programs = programs
        self._trace = trace
        self._installation = installation
        self._pod = OperatorPod(
            access, installation.namespace, installation.deployment, killer, run.path("operator"), trace
        )
        self._seen = WatchedWrites()
        self._writes: list[str] = []
        self._faults: list[Fault] = []
        trace.listen(self._notice)

    def close(self) -> None:
        """Let go of the API server."""
        self._pod.close()

    def arguments(self, version: str) -> Mapping[str, Any]:
        """The operator by its Helm chart."""
        chart: Path = self._programs.files(version) / "chart"
        return {
            "version": version,
            "chart": {"path": str(chart)},
            "namespace": self._installation.namespace,
            "leaderElection": False,
            "resources": {"requests": _REQUESTS, "limits": _LIMITS},
            "readinessProbe": _READINESS,
            **self._installation.arguments,
        }

    def start(self) -> OperatorPod:
        """Wait until the Deployment's pod is Ready."""
        self.operator = self._pod
        self._pod.start()
        return self._pod

    def check(self, fault: Fault) -> None:
        """Refuse what a watch cannot show."""
        watched_writes.check(fault)

    def arm(self, fault: Fault) -> None:
        """Kill the operator's container as soon as a watch shows a write."""
        self.check(fault)
        self._pod.aim()
        with self._pod.guard:
            self._faults.append(fault)

    def disarm(self, fault: Fault) -> None:
        """Forget a fault."""
        with self._pod.guard:
            if fault in self._faults:
                self._faults.remove(fault)

    def writes(self) -> list[str]:
        """The writes that watches have shown."""
        with self._pod.guard:
            return list(self._writes)

    def keep_log(self) -> None:
        """Keep the log of the pod before it goes."""
        if self.operator is not None:
            try:
                self.operator.keep_log()
            except HarnessError as error:
                self._trace.add("operator", event="log not kept", incarnation=self.operator.incarnation, why=str(error))

    def _notice(self, event: Event) -> None:
        fired = []
        with self._pod.guard:
            for write in self._seen.of(event):
                self._writes.append(str(write))
                fired += [(fault, write) for fault in self._faults if fault.claims(write)]
            if fired:
                self._pod.kill_soon()
        for fault, write in fired:
            self._trace.add(
                "fault", of=event.sequence, fault=str(fault), write=str(write), incarnation=self._pod.incarnation
            )
