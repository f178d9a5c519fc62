"""The operator as a local process behind the gateway."""

import json
from collections.abc import Mapping
from typing import Any

from kuberay_e2e.access import Access
from kuberay_e2e.engine import Engine
from kuberay_e2e.gateway import Fault, Gateway
from kuberay_e2e.operator_process import OperatorProcess, OperatorSpec
from kuberay_e2e.session.programs import Installation, Programs
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace

_UNAWAITED_SERVICE = {
    "target": {"kind": "Service"},
    "patch": json.dumps(
        [{"op": "add", "path": "/metadata/annotations/pulumi.com~1skipAwait", "value": "true"}],
    ),
}
"""Nobody is behind the metrics Service of an operator that runs as a local process; Pulumi need not look for them."""

_NO_PODS = {
    "target": {"kind": "Deployment"},
    "patch": json.dumps([{"op": "replace", "path": "/spec/replicas", "value": 0}]),
}
"""Where a kubelet would start the operator's pods, the Deployment has none."""


class LocalHost:
    """Runs the operator as a local process, from the Deployment that was applied; its kills are exact.

    Args:
        run: Owns its folder and its process.
        programs: The operator's binaries and files.
        access: The API server.
        gateway: Carries its traffic.
        engine: Runs the gateway.
        trace: Receives starts and ends.
        installation: Where the Deployment is.
        pods: True where the Deployment's pods would run, so that it must have none.
    """

    def __init__(
        self,
        run: Run,
        programs: Programs,
        access: Access,
        gateway: Gateway,
        engine: Engine,
        trace: Trace,
        *,
        installation: Installation,
        pods: bool,
    ) -> None:
        self.gateway: Gateway | None = gateway
        self.operator: OperatorProcess | None = None
        self._run = run
        self._programs = programs
        self._access = access
        self._through = gateway
        self._engine = engine
        self._trace = trace
        self._installation = installation
        self._patches = [_UNAWAITED_SERVICE, *([_NO_PODS] if pods else [])]

    def arguments(self, version: str) -> Mapping[str, Any]:
        """The operator by its kustomizations, which can be patched."""
        config = self._programs.files(version) / "config"
        return {
            "version": version,
            "kustomize": {"paths": [str(config / "rbac"), str(config / "manager")], "patches": self._patches},
            "namespace": self._installation.namespace,
            "leaderElection": False,
            "useKubernetesProxy": True,
            **self._installation.arguments,
        }

    def start(self) -> OperatorProcess:
        """Start the operator of the Deployment, in the version of its image."""
        spec = OperatorSpec.read(self._access, self._installation.namespace, self._installation.deployment)
        program = self._programs.operator(spec.version)
        if self.operator is None:
            self.operator = OperatorProcess(
                program,
                spec,
                self._access,
                self._through,
                self._engine,
                self._run.path("operator"),
                self._run.marker,
                self._trace,
            )
        self.operator.roll(program, spec)
        self.operator.start()
        return self.operator

    def check(self, fault: Fault) -> None:
        """The gateway sees every write, so that no fault is refused."""

    def arm(self, fault: Fault) -> None:
        """Let the gateway act at a write."""
        self._engine.run(lambda: self._through.arm(fault))

    def disarm(self, fault: Fault) -> None:
        """Forget a fault."""
        self._engine.run(lambda: self._through.disarm(fault))

    def writes(self) -> list[str]:
        """The writes that passed the gateway."""
        return [str(event.data["write"]) for event in self._trace.events("request") if "write" in event.data]

    def keep_log(self) -> None:
        """A process writes its log into the run's folder by itself."""
