"""Settings of pods and containers that the charts of KubeRay and Kueue have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pulumi


class PullPolicy(StrEnum):
    """When the node pulls an image."""

    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"


class ServiceType(StrEnum):
    """How a Service is reached."""

    CLUSTER_IP = "ClusterIP"
    NODE_PORT = "NodePort"
    LOAD_BALANCER = "LoadBalancer"


@dataclass(kw_only=True)
class ResourceRequirements:
    """What a container asks for, and what it may use at most."""

    limits: Mapping[str, pulumi.Input[str]] | None = None
    """Most that it may use, as quantities by resource: ``cpu: 100m``, ``memory: 512Mi``. Default: the
    chart's."""

    requests: Mapping[str, pulumi.Input[str]] | None = None
    """What it is scheduled with, as quantities by resource. Default: the chart's, and without one the
    limits."""


@dataclass(kw_only=True)
class Probe:
    """How the kubelet probes a container. What is unset keeps the chart's value."""

    initial_delay_seconds: int | None = None
    """Seconds before the first probe, 0 or more."""

    period_seconds: int | None = None
    """Seconds between probes, 1 or more."""

    timeout_seconds: int | None = None
    """Seconds that a probe may take, 1 or more."""

    failure_threshold: int | None = None
    """Failures in a row after which the container is restarted (liveness) or not ready, 1 or more."""

    success_threshold: int | None = None
    """Successes in a row after which it is ready again, 1 or more; 1 for liveness."""


def secret_references(names: Sequence[str] | None) -> list[dict[str, str]] | None:
    """Return references to Secrets as pods have them, or None without any."""
    return [{"name": name} for name in names] if names else None
