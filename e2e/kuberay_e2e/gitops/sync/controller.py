"""Flux's kustomize-controller as a local process."""

import os
import subprocess
import time
from pathlib import Path
from typing import Self

import httpx

from kuberay_e2e import processes
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK, free_ports

_START_SECONDS = 60


class KustomizeController:
    """Runs the controller against a cluster, for all namespaces.

    Args:
        program: Its binary.
        kubeconfig: Administrator's access to the cluster.
        folder: Receives its log and its temporary files.
        marker: Marks the process as part of a run.

    Use it as a context manager: it is ready inside.
    """

    def __init__(self, program: Path, kubeconfig: Path, folder: Path, marker: str) -> None:
        self._program = program
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._marker = marker
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def log(self) -> Path:
        """What it logged, in all its lives."""
        return self._folder / "kustomize-controller.log"

    def start(self) -> None:
        """Start it and wait until it is ready.

        Raises:
            HarnessError: It ended at once, or was not ready within 60 seconds.
        """
        temp = self._folder / "temp"
        temp.mkdir(parents=True, exist_ok=True)
        metrics, probe = free_ports(2)
        command = [
            str(self._program),
            "--watch-all-namespaces=true",
            "--enable-leader-election=false",
            "--no-remote-bases=true",
            "--requeue-dependency=1s",
            "--interval-jitter-percentage=0",
            "--log-level=info",
            f"--metrics-addr={LOOPBACK}:{metrics}",
            f"--health-addr={LOOPBACK}:{probe}",
        ]
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self._folder),
            "TMPDIR": str(temp),
            "RUNTIME_NAMESPACE": "flux-system",
            "KUBECONFIG": str(self._kubeconfig),
        }
        self._process = processes.spawn(command, marker=self._marker, log=self.log, env=environment, cwd=self._folder)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if (code := self._process.poll()) is not None:
                raise HarnessError(f"kustomize-controller ended with {code} right after its start: {self.last_lines()}")
            try:
                if httpx.get(f"http://{LOOPBACK}:{probe}/readyz", timeout=1, trust_env=False).is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        self.stop()
        raise HarnessError(f"kustomize-controller was not ready within {_START_SECONDS} s: {self.last_lines()}")

    def kill(self) -> None:
        """SIGKILL it."""
        if self._process is not None:
            processes.kill(self._process)

    def stop(self) -> None:
        """Stop it with SIGTERM."""
        if self._process is not None:
            processes.end(self._process)

    def last_lines(self, count: int = 10) -> str:
        """The last lines of its log."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(lines[-count:])
