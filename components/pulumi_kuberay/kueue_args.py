"""What can be said about Kueue: its chart, its pods, its webhooks, its controller."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.containers import Probe, PullPolicy, ResourceRequirements, ServiceType
from pulumi_kuberay.helm_chart import HelmChart
from pulumi_kuberay.kueue_configuration_args import KueueConfiguration
from pulumi_kuberay.rendering import FIELD
from pulumi_kuberay.taints import Toleration

DEFAULT_VERSION = "0.19.2"
DEFAULT_NAMESPACE = "kueue-system"
DEFAULT_REPOSITORY = "oci://registry.k8s.io/kueue/charts"
DEFAULT_IMAGE = "registry.k8s.io/kueue/kueue"


@dataclass(kw_only=True)
class KueueImage:
    """Kueue's container image. The chart's own values name an image of its build system; these do not."""

    repository: str | None = None
    """Repository of the image. Default: registry.k8s.io/kueue/kueue."""

    tag: str | None = None
    """Tag of the image. Default: ``v`` and Kueue's version."""

    pull_policy: PullPolicy | None = None
    """When the image is pulled. Default: IfNotPresent."""


class ReinvocationPolicy(StrEnum):
    """Whether a webhook that changes objects is called again after other webhooks changed them."""

    NEVER = "Never"
    IF_NEEDED = "IfNeeded"


@dataclass(kw_only=True)
class CertManager:
    """Certificates of Kueue's servers from cert-manager, which must be installed. Its presence turns it on."""

    issuer_name: str | None = None
    """Name of the issuer. Default: one that the chart makes, which signs itself."""

    issuer_kind: str | None = None
    """``Issuer`` or ``ClusterIssuer``. Needs `issuer_name`. Default: Issuer."""

    issuer_group: str | None = None
    """API group of the issuer. Needs `issuer_name`. Default: cert-manager.io."""


@dataclass(kw_only=True)
class Prometheus:
    """Scraping of Kueue by the Prometheus operator, which must be installed. Its presence turns it on."""

    namespace: str | None = None
    """Namespace of Prometheus. Default: monitoring."""

    tls_config: Mapping[str, Any] | None = None
    """TLS settings of the ServiceMonitor. Default: certificates are not checked."""


@dataclass(kw_only=True)
class MetricsService:
    """The Service in front of Kueue's metrics."""

    type: ServiceType | None = None
    """Type of the Service. Default: ClusterIP."""

    ports: Sequence[Mapping[str, Any]] | None = None
    """Ports of the Service. Default: 8443."""

    labels: Mapping[str, str] | None = None
    """Labels of the Service. Default: none."""

    annotations: Mapping[str, str] | None = None
    """Annotations of the Service. Default: none."""


@dataclass(kw_only=True)
class WebhookService:
    """The Service in front of Kueue's webhooks."""

    type: ServiceType | None = None
    """Type of the Service. Default: ClusterIP."""

    ports: Sequence[Mapping[str, Any]] | None = None
    """Ports of the Service. Default: 443 to 9443."""

    ip_families: Sequence[str] | None = field(default=None, metadata={FIELD: None})
    """``IPv6`` and ``IPv4`` in the order of preference, for a dual stack. Default: the cluster's."""

    ip_family_policy: str | None = field(default=None, metadata={FIELD: None})
    """``PreferDualStack`` or ``RequireDualStack``. Needs `ip_families`. Default: PreferDualStack."""


@dataclass(kw_only=True)
class KueueArgs:
    """Kueue, from its Helm chart."""

    version: str | None = field(default=None, metadata={FIELD: None})
    """Release of Kueue, without a leading ``v``. Feature gates of 0.19 are checked. Default: 0.19.2."""

    chart: HelmChart | None = field(default=None, metadata={FIELD: None})
    """The Helm chart. Default: the one of `version` from oci://registry.k8s.io/kueue/charts."""

    namespace: str | None = field(default=None, metadata={FIELD: None})
    """Namespace of Kueue. Default: kueue-system."""

    create_namespace: bool | None = field(default=None, metadata={FIELD: None})
    """Create the namespace. Default: true."""

    throwaway: bool | None = field(default=None, metadata={FIELD: None})
    """Let ``pulumi destroy`` delete the CRDs, and with them every queue and workload of the cluster. Default:
    false: they are protected and stay."""

    wait_for_webhooks: bool | None = field(default=None, metadata={FIELD: None})
    """Wait until Kueue, or cert-manager, has put its certificate into the webhooks; only then can queues be
    created. Default: true."""

    configuration: KueueConfiguration | None = field(default=None, metadata={FIELD: None})
    """Configuration of the controller, laid over the chart's. A change restarts Kueue. Default: the chart's."""

    feature_gates: Mapping[str, bool] | None = field(default=None, metadata={FIELD: None})
    """Feature gates that differ from the defaults of `version`. Default: none."""

    image: KueueImage | None = field(default=None, metadata={FIELD: None})
    """The container image. Default: the published image of `version`."""

    replicas: pulumi.Input[int] | None = field(default=None, metadata={FIELD: None})
    """Number of pods, 1 or more. More than one needs leader election. Default: 1."""

    resources: ResourceRequirements | None = field(
        default=None, metadata={FIELD: "controllerManager.manager.resources"}
    )
    """Requests and limits. Default: limits of 2 CPUs and 512Mi, requests of 500m and 512Mi."""

    liveness_probe: Probe | None = field(default=None, metadata={FIELD: "controllerManager.livenessProbe"})
    """Liveness probe. Default: after 15 s, every 20 s, 1 s long, 3 failures."""

    readiness_probe: Probe | None = field(default=None, metadata={FIELD: "controllerManager.readinessProbe"})
    """Readiness probe. Default: after 5 s, every 10 s, 1 s long, 3 failures."""

    log_level: int | None = field(default=None, metadata={FIELD: "controllerManager.manager.logLevel"})
    """Verbosity of the log, 0 or more. Default: 2."""

    pod_annotations: Mapping[str, str] | None = field(
        default=None, metadata={FIELD: "controllerManager.manager.podAnnotations"}
    )
    """Annotations of the pods. Default: none."""

    priority_class_name: str | None = field(
        default=None, metadata={FIELD: "controllerManager.manager.priorityClassName"}
    )
    """PriorityClass of the pods. Default: none."""

    pod_security_context: Mapping[str, Any] | None = field(
        default=None, metadata={FIELD: "controllerManager.manager.podSecurityContext"}
    )
    """Fields of the pods' security context, merged with the chart's. Default: not root, seccomp
    RuntimeDefault."""

    container_security_context: Mapping[str, Any] | None = field(
        default=None, metadata={FIELD: "controllerManager.manager.containerSecurityContext"}
    )
    """Fields of the container's security context, merged with the chart's. Default: read-only root file system,
    no privilege escalation, no capabilities."""

    image_pull_secrets: Sequence[str] | None = field(default=None, metadata={FIELD: None})
    """Names of Secrets for the registry. Default: none."""

    node_selector: Mapping[str, str] | None = field(default=None, metadata={FIELD: "controllerManager.nodeSelector"})
    """Labels of the nodes for the pods. Default: any node."""

    tolerations: Sequence[Toleration] | None = field(default=None, metadata={FIELD: "controllerManager.tolerations"})
    """Tolerations of the pods. Default: none."""

    topology_spread_constraints: Sequence[Mapping[str, Any]] | None = field(
        default=None, metadata={FIELD: "controllerManager.topologySpreadConstraints"}
    )
    """How the pods are spread. Default: not."""

    strategy: Mapping[str, Any] | None = field(default=None, metadata={FIELD: "controllerManager.strategy"})
    """Update strategy of the Deployment. Default: Kubernetes' RollingUpdate."""

    host_network: bool | None = field(default=None, metadata={FIELD: "controllerManager.hostNetwork"})
    """Run in the node's network, where the API server cannot reach pods. Default: false."""

    dns_policy: str | None = field(default=None, metadata={FIELD: "controllerManager.dnsPolicy"})
    """DNS policy of the pods. Default: Kubernetes', and ClusterFirstWithHostNet with `host_network`."""

    min_available: int | None = field(default=None, metadata={FIELD: None})
    """Pods that a disruption must leave, 1 or more: makes a PodDisruptionBudget. Default: none is made."""

    cert_manager: CertManager | None = field(default=None, metadata={FIELD: None})
    """Certificates from cert-manager. Default: Kueue signs its own."""

    prometheus: Prometheus | None = field(default=None, metadata={FIELD: None})
    """Scraping by the Prometheus operator. Default: none."""

    metrics_service: MetricsService | None = None
    """Service of the metrics. Default: ClusterIP on 8443."""

    webhook_service: WebhookService | None = None
    """Service of the webhooks. Default: ClusterIP on 443."""

    reinvocation_policy: ReinvocationPolicy | None = field(
        default=None, metadata={FIELD: "mutatingWebhook.reinvocationPolicy"}
    )
    """Whether webhooks are called again after others changed an object. Default: Never."""

    visibility_flow_control: bool | None = field(default=None, metadata={FIELD: "enableVisibilityAPF"})
    """Make a FlowSchema and a PriorityLevelConfiguration for the visibility API. Default: false."""

    visibility_auth_reader: bool | None = field(default=None, metadata={FIELD: "enableVisibilityAuthReaderRoleBinding"})
    """Make the RoleBinding in kube-system that the visibility API needs. Default: true."""

    mutating_admission_policy: bool | None = field(default=None, metadata={FIELD: "enableMutatingAdmissionPolicy"})
    """Clear nominatedClusterNames by a MutatingAdmissionPolicy, which needs Kubernetes 1.36. Default: false."""

    dashboard: bool | None = field(default=None, metadata={FIELD: "enableKueueViz"})
    """Install the dashboard KueueViz. Default: false."""

    dashboard_values: Mapping[str, Any] | None = field(default=None, metadata={FIELD: "kueueViz"})
    """Values of the chart's ``kueueViz``: images, ingresses, authentication. Needs `dashboard`. Default: the
    chart's."""

    cluster_domain: str | None = field(default=None, metadata={FIELD: "kubernetesClusterDomain"})
    """DNS domain of the cluster. Default: cluster.local."""

    name_override: str | None = None
    """Name of the chart in names of objects. Default: kueue."""

    fullname_override: str | None = None
    """What names of objects begin with. Default: kueue."""

    values: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Helm values merged over everything above; lists are replaced, null removes. Default: none."""
