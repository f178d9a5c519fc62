"""The embedded control plane: real etcd, API server, controller manager and scheduler, simulated nodes and pods.

kwokctl's binary runtime starts the programs; no root and no container engine is needed. All of them listen on
loopback only, and neither pods nor Services have addresses that a packet could leave the machine by.
"""

import functools
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml

from kuberay_e2e import egress, processes
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.provider import Cluster
from kuberay_e2e.clusters.stages import stages
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK, POD_RANGE, SERVICE_RANGE, free_ports
from kuberay_e2e.state import Run

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl", "kubectl")
"""Programs the embedded control plane needs, by their names in the toolchain."""

_PORT_OPTIONS = (
    "etcdPort",
    "etcdPeerPort",
    "kubeApiserverPort",
    "kubeControllerManagerPort",
    "kubeSchedulerPort",
    "kwokControllerPort",
)
_ATTEMPTS = 3
_EGRESS_FILE = "egress.yaml"
_COLLECT_AT = "200"
"""Garbage collection of the control plane: CRDs of a megabyte keep an API server collecting at Go's default of 100."""


class EmbeddedCluster:
    """Cluster provider `embedded`.

    Args:
        programs: Paths of `PROGRAMS`.
        ports: Chooses free loopback ports; a port that is taken after all is answered by another choice.
        ready_seconds: How long each of start and readiness may take, seconds.
    """

    name = "embedded"

    def __init__(
        self,
        programs: Mapping[str, Path],
        *,
        ports: Callable[[int], list[int]] = free_ports,
        ready_seconds: float = 90.0,
    ) -> None:
        self._programs = programs
        self._ports = ports
        self._ready_seconds = ready_seconds

    @contextmanager
    def up(self, run: Run) -> Iterator[Cluster]:
        """Start a control plane with one node; it is gone when the block ends.

        Raises:
            HarnessError: It did not come up; the message ends with what its programs logged last.
        """
        folder = run.path("cluster")
        kubeconfig = folder / "kubeconfig"
        (folder / _EGRESS_FILE).write_text(yaml.safe_dump(egress.selector(run.marker)))
        try:
            self._create(run, folder, kubeconfig)
            access = Access.read(kubeconfig)
            _wait_ready(access, folder, self._ready_seconds)
            _add_node(access)
            logs = run.path("pod-logs")
            yield Cluster(run.name, kubeconfig, simulated_pods=True, pod_logs=logs)
        finally:
            self._delete(run, folder)

    def _create(self, run: Run, folder: Path, kubeconfig: Path) -> None:
        failure = ""
        for _ in range(_ATTEMPTS):
            ports = self._ports(len(_PORT_OPTIONS))
            config = folder / "kwok.yaml"
            settings = dict(zip(_PORT_OPTIONS, ports, strict=True))
            config.write_text(yaml.safe_dump_all(self._config(run.name, folder, settings)))
            failure = self._kwokctl(
                run,
                folder,
                *("create", "cluster", "--runtime", "binary", "--config", str(config)),
                *("--kubeconfig", str(kubeconfig), "--wait", "0s"),
            )
            if not failure:
                return
            log = _last_lines(folder)
            self._delete(run, folder)
            if "address already in use" not in log and "address already in use" not in failure:
                failure += log
                break
            failure = f"one of the ports {ports} was taken by another program. {failure}{log}"
        raise HarnessError(f"The embedded control plane did not start: {failure}")

    def _config(self, name: str, folder: Path, ports: Mapping[str, int]) -> list[dict[str, Any]]:
        binaries = {
            "etcdBinary": "etcd",
            "kubeApiserverBinary": "kube-apiserver",
            "kubeControllerManagerBinary": "kube-controller-manager",
            "kubeSchedulerBinary": "kube-scheduler",
            "kwokControllerBinary": "kwok",
            "kubectlBinary": "kubectl",
        }
        options = {
            "bindAddress": LOOPBACK,
            "kubeAuthorization": True,
            "kubeAdmission": True,
            "securePort": True,
            "disableQPSLimits": True,
            "enableCRDs": ["Logs"],
            **{option: str(self._programs[program]) for option, program in binaries.items()},
            **ports,
        }
        extra_args = {
            "etcd": {"unsafe-no-fsync": "true"},
            "kube-apiserver": {
                "service-cluster-ip-range": SERVICE_RANGE,
                "advertise-address": LOOPBACK,
                "egress-selector-config-file": str(folder / _EGRESS_FILE),
                **_aggregation(folder / "kwok" / "clusters" / name / "pki" / "ca.crt"),
            },
            "kube-controller-manager": {"concurrent-gc-syncs": "4"},
            "kwok-controller": {"cidr": POD_RANGE, "node-ip": LOOPBACK},
        }
        return [
            {
                "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
                "kind": "KwokctlConfiguration",
                "options": options,
                "componentsPatches": [
                    {"name": name, "extraArgs": [{"key": key, "value": value} for key, value in args.items()]}
                    for name, args in extra_args.items()
                ],
            },
            *stages(),
        ]

    def _kwokctl(self, run: Run, folder: Path, *arguments: str) -> str:
        """Run kwokctl and return why it failed, or nothing.

        kwokctl waits two minutes for programs that have long ended, so their ends are watched here.
        """
        environment = {
            **os.environ,
            "KWOK_WORKDIR": str(folder / "kwok"),
            "KWOK_KUBE_VERSION": _version(self._programs["kube-apiserver"]),
            "KUBECONFIG": str(folder / "kubeconfig"),
            "KUBECACHEDIR": str(run.path("kube-cache")),
            "GOGC": os.environ.get("GOGC", _COLLECT_AT),
        }
        command = [str(self._programs["kwokctl"]), "--name", run.name, *arguments]
        log = folder / f"kwokctl-{arguments[0]}.log"
        try:
            process = processes.spawn(command, marker=run.marker, log=log, env=environment)
        except OSError as error:
            return f"kwokctl cannot be run: {error}."
        try:
            deadline = time.monotonic() + self._ready_seconds
            while process.poll() is None:
                if arguments[0] == "create" and (ended := ended_program(folder)):
                    return f"{ended} ended right after its start."
                if time.monotonic() > deadline:
                    return f"kwokctl {arguments[0]} did not end within {self._ready_seconds:.0f} s."
                time.sleep(0.05)
        finally:
            processes.end(process)
        said = log.read_text(errors="replace").strip()[-2000:]
        return "" if process.returncode == 0 else f"kwokctl {arguments[0]} ended with {process.returncode}: {said}"

    def _delete(self, run: Run, folder: Path) -> None:
        if (folder / "kwok").exists():
            self._kwokctl(run, folder, "delete", "cluster", "--kubeconfig", str(folder / "kubeconfig"))


def _aggregation(authority: Path) -> dict[str, str]:
    """How the API server tells an aggregated API who a request comes from; it signs with its own certificate."""
    return {
        "requestheader-client-ca-file": str(authority),
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
    }


@functools.cache
def _version(apiserver: Path) -> str:
    done = subprocess.run([str(apiserver), "--version"], capture_output=True, text=True, timeout=30)
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout else ""


def ended_program(folder: Path) -> str:
    """Name of a program of a control plane that has ended; empty while all run.

    Args:
        folder: The folder `cluster` of its run.
    """
    for file in folder.glob("kwok/clusters/*/pids/*.pid"):
        text = file.read_text().strip()
        if text.isdigit() and not _alive(int(text)):
            return file.stem
    return ""


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _wait_ready(access: Access, folder: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    seen = "nothing answered"
    with access.client() as client:
        while time.monotonic() < deadline:
            try:
                answer = client.get("/readyz")
                account = client.get("/api/v1/namespaces/default/serviceaccounts/default")
                if answer.is_success and account.is_success:
                    return
                seen = f"/readyz said {answer.status_code}, the default ServiceAccount {account.status_code}"
            except httpx.TransportError as error:
                seen = str(error)
            time.sleep(0.05)
    raise HarnessError(
        f"The API server at {access.server} was not ready within {seconds:.0f} s ({seen}).{_last_lines(folder)}"
    )


def _add_node(access: Access) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "simulated-node",
            "labels": {
                "kubernetes.io/hostname": "simulated-node",
                "kubernetes.io/os": "linux",
                "type": "kwok",
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }
    with access.client() as client:
        answer = client.post("/api/v1/nodes", content=json.dumps(node), headers={"Content-Type": "application/json"})
        if not answer.is_success:
            raise HarnessError(f"The API server refused the simulated node: {answer.text}")


def _last_lines(folder: Path, count: int = 5) -> str:
    parts = []
    for log in sorted(folder.glob("kwok/**/logs/*.log")):
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-count:]
        if lines:
            parts.append(f"\n--- {log.name}\n" + "\n".join(lines))
    return "".join(parts)
