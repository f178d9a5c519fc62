"""Runs Kueue's manager in the place of its pods, as a kubelet would, from what the pod says.

Arguments, environment, configuration, certificates and identity are those that were applied. Only what a process on
a shared machine needs differs: its ports are on loopback, where the egress connects its Services.
"""

import asyncio
import base64
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import kr8s
import yaml

from kuberay_e2e import processes
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.stages import APP_NAME, KUEUE
from kuberay_e2e.egress import Backend, Egress
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK, free_ports
from kuberay_e2e.pods import contents, statuses
from kuberay_e2e.pods.api import PodApi
from kuberay_e2e.trace import Trace

WEBHOOK_PORT = 9443
VISIBILITY_PORT = 8082
METRICS_PORT = 8443
"""Container ports of Kueue's manager, by which its Services name it."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0
"""Seconds before a restart, doubled each time: Kueue ends while one of its CRDs is still to be applied."""

_POLL_SECONDS = 0.1
_PATIENCE = 2.0


@dataclass(frozen=True)
class KueuePorts:
    """Loopback ports of one manager: its webhooks, its visibility API, its metrics and its probes."""

    webhook: int
    visibility: int
    metrics: int
    probe: int

    def configure(self, text: str, certificates: Path, namespace: str) -> dict[str, Any]:
        """Kueue's configuration with its addresses on this machine.

        Args:
            text: The configuration as it was applied, YAML.
            certificates: Folder of the webhooks' certificate.
            namespace: Namespace of the pod, which a container finds in a file.
        """
        configuration: dict[str, Any] = yaml.safe_load(text) or {}
        addresses: Mapping[str, dict[str, Any]] = {
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{self.probe}"},
            "metrics": {"bindAddress": f"{LOOPBACK}:{self.metrics}"},
            "webhook": {"host": LOOPBACK, "port": self.webhook, "certDir": str(certificates)},
            "visibilityServer": {"bindAddress": LOOPBACK, "bindPort": self.visibility},
            "leaderElection": {"resourceNamespace": namespace},
        }
        for section, values in addresses.items():
            configuration[section] = {**(configuration.get(section) or {}), **values}
        return configuration


class KueueRunner:
    """The part of a kubelet that runs Kueue: starts it with its pod, restarts it when it ends, ends it with its pod.

    Args:
        program: Kueue's binary.
        kubeconfig: Administrator's access to the cluster.
        egress: Connects Kueue's Services.
        folder: Receives configuration, certificates and logs of each pod.
        marker: Marks the process as part of a run.
        trace: Receives starts and ends.

    Use it as an asynchronous context manager; leaving it ends everything that it runs.
    """

    def __init__(
        self, program: Path, kubeconfig: Path, egress: Egress, folder: Path, marker: str, trace: Trace
    ) -> None:
        self._program = program
        self._kubeconfig = kubeconfig
        self._egress = egress
        self._folder = folder
        self._marker = marker
        self._trace = trace
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ready: set[str] = set()

    async def __aenter__(self) -> "KueueRunner":
        self._pods = await PodApi.connect(self._kubeconfig)
        self._access = Access.read(self._kubeconfig)
        self._watch = asyncio.create_task(self._watch_pods())
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [self._watch, *self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def ready(self) -> int:
        """Number of managers that are ready."""
        return len(self._ready)

    def log(self) -> str:
        """What all managers of this run logged."""
        return "\n".join(log.read_text(errors="replace") for log in sorted(self._folder.glob("*/kueue.log")))

    async def _watch_pods(self) -> None:
        async for event, pod in self._pods.watch({APP_NAME: KUEUE}):
            uid = pod["metadata"]["uid"]
            if event == "DELETED" or pod["metadata"].get("deletionTimestamp"):
                if (task := self._tasks.pop(uid, None)) is not None:
                    task.cancel()
            elif uid not in self._tasks and (pod.get("status") or {}).get("podIP"):
                self._tasks[uid] = asyncio.create_task(self._run(pod))

    async def _run(self, pod: Mapping[str, Any]) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._run_once(pod, self._folder / pod["metadata"]["uid"])
            except (HarnessError, OSError, httpx.HTTPError, kr8s.ServerError) as error:
                await self._pods.set_status(pod, statuses.failed_to_start(pod, str(error)))
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _run_once(self, pod: Mapping[str, Any], folder: Path) -> None:
        container = pod["spec"]["containers"][0]
        mounted = await contents.files(pod, container, self._pods.fetch, folder / "mounted")
        certificates = next((path for path in mounted.values() if path.is_dir()), folder)
        ports = KueuePorts(*free_ports(4))
        command = [str(self._program)]
        for argument in container.get("args", ()):
            option, _, path = argument.partition("=")
            if option == "--config" and path in mounted:
                configuration = folder / "configuration.yaml"
                text = mounted[path].read_text()
                namespace = pod["metadata"]["namespace"]
                configuration.write_text(yaml.safe_dump(ports.configure(text, certificates, namespace)))
                argument = f"{option}={configuration}"
            command.append(argument)
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(await self._identity(pod)))
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder),
            "POD_NAMESPACE": pod["metadata"]["namespace"],
            **await contents.environment(pod, container, self._pods.fetch),
        }
        log = folder / "kueue.log"
        process = processes.spawn(
            [*command, f"--kubeconfig={kubeconfig}"], marker=self._marker, log=log, env=environment, cwd=folder
        )
        async with self._served(pod, process, ports):
            if await self._await_ready(pod, process, ports.probe, folder, certificates):
                await self._pods.set_status(pod, statuses.ready(pod))
                self._ready.add(pod["metadata"]["uid"])
                self._note("ready", pod)
            await asyncio.to_thread(process.wait)
        last = log.read_text(errors="replace").splitlines()[-5:]
        raise HarnessError(f"Kueue ended with {process.returncode}: " + "\n".join(last))

    @contextlib.asynccontextmanager
    async def _served(
        self, pod: Mapping[str, Any], process: "subprocess.Popen[bytes]", ports: KueuePorts
    ) -> AsyncIterator[None]:
        meta = pod["metadata"]
        backend = Backend(
            meta["namespace"],
            meta["labels"],
            {WEBHOOK_PORT: ports.webhook, VISIBILITY_PORT: ports.visibility, METRICS_PORT: ports.metrics},
        )
        self._egress.serve(backend)
        self._note("started", pod, pid=process.pid)
        try:
            yield
        finally:
            self._ready.discard(meta["uid"])
            self._egress.leave(backend)
            await asyncio.to_thread(processes.end, process, patience=_PATIENCE)
            self._note("ended", pod)

    async def _await_ready(
        self, pod: Mapping[str, Any], process: "subprocess.Popen[bytes]", probe: int, folder: Path, certificates: Path
    ) -> bool:
        container = pod["spec"]["containers"][0]
        async with httpx.AsyncClient(trust_env=False, timeout=2) as client:
            while process.poll() is None:
                if not (certificates / "tls.crt").exists():
                    await contents.files(pod, container, self._pods.fetch, folder / "mounted")
                with contextlib.suppress(httpx.TransportError):
                    if (await client.get(f"http://{LOOPBACK}:{probe}/readyz")).is_success:
                        return True
                await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _identity(self, pod: Mapping[str, Any]) -> dict[str, Any]:
        account = pod["spec"].get("serviceAccountName", "default")
        token = await self._pods.token(pod["metadata"]["namespace"], account)
        authority = base64.b64encode((self._access.ca or "").encode()).decode()
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "pod",
            "clusters": [
                {
                    "name": "cluster",
                    "cluster": {"server": self._access.server, "certificate-authority-data": authority},
                }
            ],
            "users": [{"name": "pod", "user": {"token": token}}],
            "contexts": [{"name": "pod", "context": {"cluster": "cluster", "user": "pod"}}],
        }

    def _note(self, event: str, pod: Mapping[str, Any], **more: Any) -> None:
        meta = pod["metadata"]
        self._trace.add("kueue", event=event, namespace=meta["namespace"], pod=meta["name"], **more)
