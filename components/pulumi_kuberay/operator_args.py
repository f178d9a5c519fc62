"""What can be said about a KubeRay operator, whichever way it is installed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.containers import ResourceRequirements
from pulumi_kuberay.helm_chart import HelmChart
from pulumi_kuberay.operator_environment import OperatorEnvironment
from pulumi_kuberay.operator_pod_args import (
    KubeClient,
    OperatorConfiguration,
    OperatorImage,
    OperatorLogging,
    OperatorMetrics,
    OperatorProbe,
    OperatorService,
    ServiceAccount,
)
from pulumi_kuberay.rendering import FIELD
from pulumi_kuberay.taints import Toleration

DEFAULT_VERSION = "1.6.2"
DEFAULT_NAMESPACE = "ray-system"
DEFAULT_REPOSITORY = "https://ray-project.github.io/kuberay-helm/"
DEFAULT_IMAGE = "quay.io/kuberay/operator"


class InstallMode(StrEnum):
    """Who owns the objects of the operator's chart."""

    CHART = "chart"
    """Pulumi, each as a resource (helm.v4.Chart): policies see them, drift is found, nothing is hidden."""

    RELEASE = "release"
    """Helm, as one release (helm.v3.Release): ``helm ls`` shows it, ``helm rollback`` works."""


class RbacScope(StrEnum):
    """Which roles the operator gets."""

    CLUSTER = "cluster"
    """ClusterRoles, for Ray objects in every namespace."""

    NAMESPACES = "namespaces"
    """A Role in each watched namespace, and in its own if none is named: no ClusterRole is needed."""

    LEADER_ELECTION = "leader-election"
    """The Role for leader election only; somebody else makes those for the watched namespaces."""

    NONE = "none"
    """None at all; somebody else makes them, that for leader election too."""


class BatchScheduler(StrEnum):
    """A scheduler that places the pods of a RayCluster together. It must be installed."""

    VOLCANO = "volcano"
    YUNIKORN = "yunikorn"
    SCHEDULER_PLUGINS = "scheduler-plugins"
    KAI_SCHEDULER = "kai-scheduler"


@dataclass(kw_only=True)
class KustomizeFolders:
    """Kustomizations of the operator. CRDs and Namespace objects in them are left out."""

    paths: Sequence[str]
    """Folders with a ``kustomization.yaml``, or addresses of such. Of the operator's module these are
    ``config/rbac`` and ``config/manager``; ``config/default`` gives the same but reads the CRDs first, for
    seconds.
    """

    patches: Sequence[Mapping[str, Any]] | None = None
    """Entries for the ``patches`` of a kustomization, applied last. Default: none."""


@dataclass(kw_only=True)
class KubeRayOperatorArgs:
    """The operator. It comes from its Helm chart unless `kustomize` is set.

    What is unset keeps the value of the chart; "Default" names it.
    """

    version: str | None = field(default=None, metadata={FIELD: None})
    """Release of the operator, without a leading ``v``: decides which values and feature gates exist. Default:
    1.6.2."""

    chart: HelmChart | None = field(default=None, metadata={FIELD: None})
    """The Helm chart. Default: the one of `version` from https://ray-project.github.io/kuberay-helm/."""

    install: InstallMode | None = field(default=None, metadata={FIELD: None})
    """``chart``: Pulumi owns the chart's objects. ``release``: Helm does. A change replaces the operator. Default:
    chart."""

    kustomize: KustomizeFolders | None = field(default=None, metadata={FIELD: None})
    """Kustomizations instead of the Helm chart. Settings that only the chart has are refused with it."""

    namespace: str | None = field(default=None, metadata={FIELD: None})
    """Namespace of the operator. Default: ray-system."""

    create_namespace: bool | None = field(default=None, metadata={FIELD: None})
    """Create the namespace. Default: true."""

    image: OperatorImage | None = None
    """The container image. Default: the published image of `version`."""

    image_pull_secrets: Sequence[str] | None = None
    """Names of Secrets for the registry. Default: none."""

    replicas: pulumi.Input[int] | None = None
    """Number of operator pods, 1 or more. More than one needs leader election. Default: 1."""

    leader_election: bool | None = field(default=None, metadata={FIELD: "leaderElectionEnabled"})
    """Elect one active operator pod. Default: true."""

    reconcile_concurrency: int | None = None
    """Number of objects of one kind that are reconciled at the same time, 1 or more. Default: 1."""

    kube_client: KubeClient | None = None
    """Limits of its client of the API server."""

    use_kubernetes_proxy: bool | None = None
    """Reach the Ray dashboards through the API server's service proxy. Default: false."""

    watch_namespaces: Sequence[str] | None = field(default=None, metadata={FIELD: "watchNamespace"})
    """Namespaces whose Ray objects the operator looks after. Default: all, and its own with `rbac`
    ``namespaces``."""

    rbac: RbacScope | None = field(default=None, metadata={FIELD: None})
    """Which roles it gets: ``cluster``, ``namespaces``, ``leader-election`` or ``none``. Default: cluster."""

    service_account: ServiceAccount | None = None
    """The ServiceAccount that it runs as."""

    feature_gates: Mapping[str, bool] | None = None
    """Feature gates that differ from the defaults of `version`. Default: none. All gates of the version are always
    rendered, because Helm replaces lists."""

    batch_scheduler: BatchScheduler | None = field(default=None, metadata={FIELD: "batchScheduler.name"})
    """Scheduler that places the pods of a RayCluster together. Default: none."""

    configuration: OperatorConfiguration | None = None
    """What is added to every Ray pod. Default: nothing."""

    environment: OperatorEnvironment | None = field(default=None, metadata={FIELD: None})
    """The environment variables that the operator reads, typed."""

    env: Mapping[str, pulumi.Input[str]] | None = None
    """Other environment variables of the operator's container, by name. Default: none."""

    logging: OperatorLogging | None = None
    """Its log."""

    metrics: OperatorMetrics | None = None
    """Its metrics."""

    resources: ResourceRequirements | None = None
    """Requests and limits, merged with the chart's. Default: limits of 100m CPU and 512Mi memory, no requests."""

    liveness_probe: OperatorProbe | None = None
    """Liveness probe."""

    readiness_probe: OperatorProbe | None = None
    """Readiness probe."""

    pod_security_context: Mapping[str, Any] | None = None
    """Security context of the pod. Default: none."""

    security_context: Mapping[str, Any] | None = None
    """Fields of the container's security context, merged with the chart's. Default: no privilege escalation, a
    read-only root file system, no capabilities, not root, seccomp RuntimeDefault."""

    service: OperatorService | None = None
    """The Service in front of its metrics."""

    node_selector: Mapping[str, str] | None = None
    """Labels of the nodes for the pods. Default: none."""

    affinity: Mapping[str, Any] | None = None
    """Affinity of the pods. Default: none."""

    tolerations: Sequence[Toleration] | None = None
    """Tolerations of the pods. Default: none."""

    priority_class_name: str | None = None
    """PriorityClass of the pods. Default: none."""

    labels: Mapping[str, str] | None = None
    """Labels of the Deployment and its pods. Default: none."""

    annotations: Mapping[str, str] | None = None
    """Annotations of the pods. Default: none."""

    operator_command: str | None = None
    """Path of the program in the image. Default: /manager."""

    name_override: str | None = None
    """Name of the chart in labels and names of objects. Default: kuberay-operator."""

    fullname_override: str | None = None
    """Name of the Deployment, and what other names begin with. Default: kuberay-operator."""

    component_override: str | None = None
    """Value of the label ``app.kubernetes.io/component``. Default: kuberay-operator."""

    values: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Helm values merged over everything above; lists are replaced, null removes. Only for the chart."""
