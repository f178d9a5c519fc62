"""The operator's pod as its chart takes it: image, probes, log, accounts and Services.

What is unset keeps the chart's value; "Default" names it, for all supported versions of the chart alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pulumi_kuberay.containers import PullPolicy, ServiceType
from pulumi_kuberay.rendering import FIELD


@dataclass(kw_only=True)
class OperatorImage:
    """The operator's container image."""

    repository: str | None = None
    """Repository of the image. Default: quay.io/kuberay/operator."""

    tag: str | None = None
    """Tag of the image. Default: ``v`` and the operator's version."""

    pull_policy: PullPolicy | None = None
    """When the image is pulled: ``Always``, ``IfNotPresent`` or ``Never``. Default: IfNotPresent."""


@dataclass(kw_only=True)
class OperatorProbe:
    """A probe of the operator, which asks for ``/metrics`` on port 8080. The chart takes no other settings."""

    initial_delay_seconds: int | None = None
    """Seconds before the first probe, 0 or more. Default: 10."""

    period_seconds: int | None = None
    """Seconds between probes, 1 or more. Default: 5."""

    failure_threshold: int | None = None
    """Failures in a row that count, 1 or more. Default: 5."""


class LogEncoder(StrEnum):
    """How lines of the log are written."""

    JSON = "json"
    CONSOLE = "console"


@dataclass(kw_only=True)
class OperatorLogging:
    """The operator's log. It goes to standard output, and to a file if `base_dir` and `file_name` are set."""

    stdout_encoder: LogEncoder | None = None
    """How standard output is written: ``json`` or ``console``. Default: json."""

    file_encoder: LogEncoder | None = None
    """How the file is written: ``json`` or ``console``. Default: json."""

    base_dir: str | None = None
    """Folder of the file, an emptyDir volume of its own. Needs `file_name`. Default: none."""

    file_name: str | None = None
    """Name of the file. Needs `base_dir`. Default: none."""

    size_limit: str | None = None
    """Size limit of the volume, a quantity such as ``1Gi``. Needs `base_dir`. Default: none."""


@dataclass(kw_only=True)
class ServiceMonitor:
    """A ServiceMonitor of the Prometheus operator, which must be installed."""

    enabled: bool | None = None
    """Make it. Default: false."""

    interval_seconds: int | None = field(default=None, metadata={FIELD: "interval"})
    """Seconds between scrapes, 1 or more. Default: 30."""

    honor_labels: bool | None = None
    """Keep the metrics' own labels where they collide with the target's. Default: true."""

    selector: Mapping[str, str] | None = None
    """Labels of the ServiceMonitor itself, by which Prometheus finds it. Only before 1.7.0; see
    `additional_labels`. Default: none."""

    additional_labels: Mapping[str, str] | None = None
    """The same since 1.7.0. Default: none."""

    namespace: str | None = None
    """Namespace of the ServiceMonitor. Default: none, which is the operator's."""


@dataclass(kw_only=True)
class OperatorMetrics:
    """The operator's metrics of Ray objects (``kuberay_…``)."""

    enabled: bool | None = None
    """Emit them. Default: true."""

    service_monitor: ServiceMonitor | None = None
    """Let the Prometheus operator scrape them."""


@dataclass(kw_only=True)
class OperatorService:
    """The Service in front of the operator's metrics."""

    type: ServiceType | None = None
    """Type of the Service. Default: ClusterIP."""

    port: int | None = None
    """Port of the Service, 1 to 65535. Default: 8080."""


@dataclass(kw_only=True)
class ServiceAccount:
    """The ServiceAccount that the operator runs as."""

    create: bool | None = None
    """Create it. Default: true."""

    name: str | None = None
    """Its name. Default: kuberay-operator."""


@dataclass(kw_only=True)
class KubeClient:
    """Limits of the operator's client of the API server."""

    qps: float | None = None
    """Requests in a second, 0 or more. Default: 100."""

    burst: int | None = None
    """Requests at once, 0 or more. Default: 200."""


@dataclass(kw_only=True)
class OperatorConfiguration:
    """What the operator adds to every Ray pod. Its presence gives the operator a configuration file instead of flags.

    A change of the file alone does not restart the operator, because its chart has no checksum of it. In this mode
    the operator of 1.5 and 1.6 ignores the settings of `OperatorLogging` encoders and
    ``DELETE_RAYJOB_CR_AFTER_JOB_FINISHES``.
    """

    default_container_envs: Sequence[Mapping[str, Any]] | None = None
    """Environment variables (``name`` with ``value`` or ``valueFrom``) of every Ray container. Default: none."""

    head_sidecar_containers: Sequence[Mapping[str, Any]] | None = None
    """Containers added to every head pod. Since 1.6.2. Default: none."""

    worker_sidecar_containers: Sequence[Mapping[str, Any]] | None = None
    """Containers added to every worker pod. Since 1.6.2. Default: none."""

    default_pod_annotations: Mapping[str, str] | None = None
    """Annotations of every Ray pod; those of the pod win. Since 1.7.0. Default: none."""

    default_pod_labels: Mapping[str, str] | None = None
    """Labels of every Ray pod; those of the pod win. Since 1.7.0. Default: none."""
