"""The KubeRay operator as a local process, started from the Deployment that was applied.

Arguments, environment and feature gates are the Deployment's; the identity is a token of its ServiceAccount, so
RBAC is the real one. Only what a process on a shared machine needs differs: its ports are on loopback, and all its
traffic goes through the gateway.
"""

import http.client
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e import processes
from kuberay_e2e.access import Access
from kuberay_e2e.engine import Engine
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Gateway, Incarnation
from kuberay_e2e.network import LOOPBACK, free_ports
from kuberay_e2e.trace import Trace

_TOKEN_SECONDS = 24 * 3600
_START_SECONDS = 30


@dataclass(frozen=True)
class OperatorSpec:
    """How the Deployment runs the operator.

    Attributes:
        namespace: Namespace of the Deployment.
        deployment: Name of the Deployment.
        version: Release of the operator, from the tag of its image, without a leading `v`.
        service_account: ServiceAccount of its pods.
        args: Arguments of the operator container.
        env: Environment of the operator container.
    """

    namespace: str
    deployment: str
    version: str
    service_account: str
    args: tuple[str, ...]
    env: Mapping[str, str]

    @classmethod
    def read(cls, access: Access, namespace: str, deployment: str) -> "OperatorSpec":
        """Read the Deployment from the cluster.

        Raises:
            HarnessError: There is no such Deployment, or it takes something from elsewhere that a local process
                cannot have.
        """
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{deployment}"
        with access.client() as client:
            answer = client.get(path)
        if not answer.is_success:
            raise HarnessError(
                f"Expected the Deployment {namespace}/{deployment} of the KubeRay operator to be there after it was "
                f"applied; the API server said {answer.status_code}: {answer.text[:300]}"
            )
        template = answer.json()["spec"]["template"]["spec"]
        container = template["containers"][0]
        return cls(
            namespace,
            deployment,
            container["image"].rpartition(":")[2].removeprefix("v"),
            template.get("serviceAccountName", "default"),
            tuple(container.get("args", ())),
            _environment(container.get("env", ()), namespace),
        )

    def command(self, program: Path, metrics: int, probe: int) -> list[str]:
        """The command of a local process: its binary, and its ports on loopback."""
        return [
            str(program),
            f"--leader-election-namespace={self.namespace}",
            *self.args,
            f"--metrics-addr={LOOPBACK}:{metrics}",
            f"--health-probe-bind-address={LOOPBACK}:{probe}",
        ]

    def environment(self, home: Path, kubeconfig: Path) -> dict[str, str]:
        """The environment of a local process."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(home),
            "POD_NAMESPACE": self.namespace,
            **self.env,
            "KUBECONFIG": str(kubeconfig),
        }


class OperatorProcess:
    """Starts, kills and restarts the operator.

    Args:
        program: The operator's binary.
        spec: How to run it.
        access: The API server, with the right to issue the ServiceAccount's token.
        gateway: Carries its traffic.
        engine: Runs the gateway.
        folder: Receives a kubeconfig and a log per incarnation.
        marker: Marks the process as part of a run.
        trace: Receives starts and ends.
    """

    def __init__(
        self,
        program: Path,
        spec: OperatorSpec,
        access: Access,
        gateway: Gateway,
        engine: Engine,
        folder: Path,
        marker: str,
        trace: Trace,
    ) -> None:
        self._program = program
        self._spec = spec
        self._access = access
        self._gateway = gateway
        self._engine = engine
        self._folder = folder
        self._marker = marker
        self._trace = trace
        self._process: subprocess.Popen[bytes] | None = None
        self._incarnation: Incarnation | None = None

    def roll(self, program: Path, spec: OperatorSpec) -> None:
        """Let the next start be of another binary or by a changed Deployment."""
        self._program = program
        self._spec = spec

    @property
    def incarnation(self) -> int:
        """Number of the present or last incarnation; 0 before the first start."""
        return self._incarnation.number if self._incarnation else 0

    @property
    def running(self) -> bool:
        """True while the process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """What the process ended with, a negative number for a signal; None while it lives and before its start."""
        return self._process.poll() if self._process is not None else None

    @property
    def doomed(self) -> bool:
        """True once the present incarnation has been killed, also while its process is still ending."""
        return self._incarnation is not None and self._incarnation.dead

    def log(self, incarnation: int) -> Path:
        """The log of an incarnation."""
        return self._folder / f"operator-{incarnation}.log"

    def start(self) -> None:
        """Start the next incarnation and wait until its manager answers its readiness probe.

        Raises:
            HarnessError: It ended at once, or did not become ready within 30 seconds.
        """
        if self.running:
            raise HarnessError("Expected the operator to be stopped before it is started, but it is running.")
        incarnation = self._engine.call(self._gateway.open(self._token()))
        self._incarnation = incarnation
        kubeconfig = self._folder / f"operator-{incarnation.number}.kubeconfig"
        kubeconfig.parent.mkdir(parents=True, exist_ok=True)
        kubeconfig.write_text(yaml.safe_dump(_kubeconfig(incarnation.server)))
        metrics, probe = free_ports(2)
        process = processes.spawn(
            self._spec.command(self._program, metrics, probe),
            marker=self._marker,
            log=self.log(incarnation.number),
            env=self._spec.environment(self._folder, kubeconfig),
        )
        self._process = process
        incarnation.kill = lambda: _sigkill(process)
        self._trace.add(
            "operator",
            event="started",
            version=self._spec.version,
            incarnation=incarnation.number,
            pid=process.pid,
            args=list(self._spec.args),
        )
        self._wait_ready(probe)

    def kill(self) -> None:
        """SIGKILL the operator; nothing that it sent and the gateway has not yet read is forwarded."""
        if self._process is None or self._incarnation is None:
            return
        incarnation, process = self._incarnation, self._process

        def end() -> None:
            incarnation.kill()
            if not incarnation.dead:
                incarnation.dead = True
                self._trace.add("operator", event="killed", incarnation=incarnation.number)

        self._engine.run(end)
        process.wait()
        self._engine.call(self._gateway.close(incarnation))

    def wait_killed(self) -> None:
        """Wait for the end of a process that the gateway has killed, and close its port."""
        if self._process is not None and self._incarnation is not None:
            self._process.wait()
            self._engine.call(self._gateway.close(self._incarnation))

    def stop(self) -> None:
        """Stop the operator with SIGTERM, as a Deployment scaled to zero would."""
        if self._process is None or self._incarnation is None:
            return
        if self.running:
            processes.end(self._process)
            self._trace.add("operator", event="stopped", incarnation=self._incarnation.number)
        self._engine.call(self._gateway.close(self._incarnation))

    def _token(self) -> str:
        path = f"/api/v1/namespaces/{self._spec.namespace}/serviceaccounts/{self._spec.service_account}/token"
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _TOKEN_SECONDS},
        }
        with self._access.client() as client:
            answer = client.post(path, json=body)
        if not answer.is_success:
            raise HarnessError(
                f"Expected a token of the ServiceAccount {self._spec.namespace}/{self._spec.service_account}; "
                f"the API server said {answer.status_code}: {answer.text[:300]}"
            )
        token: str = answer.json()["status"]["token"]
        return token

    def _wait_ready(self, probe: int) -> None:
        assert self._process is not None and self._incarnation is not None
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._incarnation.dead:
                return
            if (code := self._process.poll()) is not None:
                raise HarnessError(f"The KubeRay operator ended with {code} right after its start: {self.last_lines()}")
            if is_ready(probe):
                return
            time.sleep(0.05)
        raise HarnessError(f"The KubeRay operator was not ready within {_START_SECONDS} s: {self.last_lines()}")

    def last_lines(self, count: int = 5) -> str:
        """The last lines of the present incarnation's log."""
        log = self.log(self.incarnation)
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return "\n".join(lines[-count:])


def is_ready(probe: int) -> bool:
    """Whether the operator's readiness probe, at a port on loopback, answers."""
    connection = http.client.HTTPConnection(LOOPBACK, probe, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _sigkill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)


def _environment(entries: Sequence[Mapping[str, Any]], namespace: str) -> dict[str, str]:
    environment = {}
    for entry in entries:
        source = entry.get("valueFrom")
        if source is None:
            environment[entry["name"]] = entry.get("value", "")
        elif (source.get("fieldRef") or {}).get("fieldPath") == "metadata.namespace":
            environment[entry["name"]] = namespace
        else:
            raise HarnessError(
                f"The operator's Deployment takes {entry['name']} from {source}, which a local process cannot have. "
                "Give the variable a plain value."
            )
    return environment


def _kubeconfig(server: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "gateway",
        "clusters": [{"name": "gateway", "cluster": {"server": server}}],
        "users": [{"name": "operator", "user": {}}],
        "contexts": [{"name": "gateway", "context": {"cluster": "gateway", "user": "operator"}}],
    }
