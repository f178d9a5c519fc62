"""The `ray start` of a head that stays on this machine: command, environment and ports.

What is not obvious, found in the source of Ray 2.52.0 and by looking at its sockets:

- `--node-ip-address=127.0.0.1` alone is undone: `ray start` replaces a loopback address by the machine's own
  (services.py, resolve_ip_for_localhost). RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 turns that off. With a node
  address of 127.0.0.1 every server of Ray, gRPC and metrics included, binds loopback.
- The Ray client server cannot be left out where gRPC is installed; it gets a port of its own.
- The metrics servers of the autoscaler and the dashboard have fixed ports unless the environment names others,
  so that a second head would go without them.
- With usage statistics off the dashboard still asks the cloud's metadata service where it runs, at
  169.254.169.254 (usage_stats_head.py, run), except where ~/ray_bootstrap_config.yaml names the provider; and
  it reports to https://usage-stats.ray.io/ that they are off, unless RAY_USAGE_STATS_REPORT_URL is something else.
"""

import random
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK

MIN_CPUS = 2
"""Logical CPUs a head has at least: samples may give it none and leave the work to worker Pods."""

OBJECT_STORE_BYTES = 100 * 1024 * 1024

LONGEST_TEMP_DIR = 107 - len("/session_2026-01-01_00-00-00_000000_4194304/sockets/dash_MetricsHead")
"""Characters of a `--temp-dir` with which Ray's Unix sockets keep within the kernel's limit of 107 bytes."""

_IN_CLUSTER = frozenset(
    {
        "FQ_RAY_IP",
        "KUBERAY_GEN_RAY_START_CMD",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
        "PATH",
        "HOME",
        "RAY_ADDRESS",
        "RAY_CLOUD_INSTANCE_ID",
        "RAY_DASHBOARD_ADDRESS",
        "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE",
        "RAY_IP",
        "RAY_NODE_TYPE_NAME",
        "RAY_PORT",
        "RAY_REDIS_ADDRESS",
        "RAY_enable_autoscaler_v2",
    }
)
"""Variables of a head Pod that speak of its network, its node or its image, none of which is here."""

_PORT_RANGE = range(20_000, 32_000)
_issued: set[int] = set()
_issuing = threading.Lock()


@dataclass(frozen=True)
class HeadPorts:
    """Ports of one head, all on loopback."""

    gcs: int
    dashboard: int
    dashboard_agent: int
    dashboard_agent_grpc: int
    metrics_export: int
    runtime_env_agent: int
    ray_client_server: int
    node_manager: int
    object_manager: int
    autoscaler_metrics: int
    dashboard_metrics: int

    @classmethod
    def choose(cls) -> "HeadPorts":
        """Free ports, below those the kernel hands out by itself, and none twice in the life of this process.

        Ray binds its ports one after the other during some seconds, so a port that the kernel may give away
        in the meantime would not do.

        Raises:
            HarnessError: There are not enough of them.
        """
        with _issuing:
            candidates = [port for port in _PORT_RANGE if port not in _issued]
            chosen: list[int] = []
            for port in random.sample(candidates, len(candidates)):
                if len(chosen) == len(fields(cls)):
                    break
                if _is_free(port):
                    chosen.append(port)
            if len(chosen) < len(fields(cls)):
                raise HarnessError(
                    f"Expected {len(fields(cls))} free ports between {_PORT_RANGE.start} and {_PORT_RANGE.stop} "
                    f"on {LOOPBACK} for a Ray head, found {len(chosen)}. End programs that listen there."
                )
            _issued.update(chosen)
        return cls(*chosen)


def command(ray: Path, ports: HeadPorts, temp_dir: Path, num_cpus: float | None) -> list[str]:
    """The `ray start` that stays in the foreground.

    Args:
        ray: The `ray` program.
        ports: Where its servers listen.
        temp_dir: Folder for its session, at most `LONGEST_TEMP_DIR` characters long.
        num_cpus: Logical CPUs, `MIN_CPUS` at least; None: `MIN_CPUS`.
    """
    return [
        str(ray),
        "start",
        "--head",
        "--block",
        f"--node-ip-address={LOOPBACK}",
        f"--port={ports.gcs}",
        f"--dashboard-host={LOOPBACK}",
        f"--dashboard-port={ports.dashboard}",
        f"--dashboard-agent-listen-port={ports.dashboard_agent}",
        f"--dashboard-agent-grpc-port={ports.dashboard_agent_grpc}",
        f"--metrics-export-port={ports.metrics_export}",
        f"--runtime-env-agent-port={ports.runtime_env_agent}",
        f"--ray-client-server-port={ports.ray_client_server}",
        f"--node-manager-port={ports.node_manager}",
        f"--object-manager-port={ports.object_manager}",
        "--min-worker-port=0",
        "--max-worker-port=0",
        f"--num-cpus={int(max(MIN_CPUS, num_cpus or 0))}",
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        f"--temp-dir={temp_dir}",
        "--disable-usage-stats",
        "--log-style=record",
        "--log-color=false",
    ]


def environment(base: Mapping[str, str], pod: Mapping[str, str], ports: HeadPorts) -> dict[str, str]:
    """The environment of a head.

    Args:
        base: What the machine gives: PATH, HOME, locale.
        pod: Environment of the head Pod; what would point Ray into a cluster is left out.
        ports: Where the servers listen that take no option.
    """
    patience = "150"
    return {
        **base,
        **{name: value for name, value in pod.items() if name not in _IN_CLUSTER},
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_USAGE_STATS_REPORT_URL": "off:",
        "AUTOSCALER_METRIC_PORT": str(ports.autoscaler_metrics),
        "DASHBOARD_METRIC_PORT": str(ports.dashboard_metrics),
        "RAY_DASHBOARD_STARTUP_TIMEOUT_S": patience,
        "RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT": patience,
        "RAY_agent_register_timeout_ms": f"{patience}000",
        "RAY_prestart_worker_first_driver": "0",
    }


def write_home(home: Path) -> None:
    """Make a HOME in which Ray finds what keeps it from asking a cloud's metadata service."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "ray_bootstrap_config.yaml").write_text("provider:\n  type: local\n")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
