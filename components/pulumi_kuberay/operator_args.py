"""What can be said about a KubeRay operator, whichever way it is installed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

DEFAULT_VERSION = "1.6.2"
DEFAULT_NAMESPACE = "ray-system"
DEFAULT_REPOSITORY = "https://ray-project.github.io/kuberay-helm/"
DEFAULT_IMAGE = "quay.io/kuberay/operator"


@dataclass(kw_only=True)
class HelmChart:
    """The operator's Helm chart, from a repository or from this machine."""

    repository: str | None = None
    """Address of the chart repository. Default: KubeRay's own, https://ray-project.github.io/kuberay-
    helm/."""

    version: str | None = None
    """Version of the chart. Default: the operator's version."""

    path: str | None = None
    """A chart on this machine, as a folder or a ``.tgz`` file, instead of the repository."""


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
class OperatorImage:
    """The operator's container image."""

    repository: str | None = None
    """Repository of the image. Default: quay.io/kuberay/operator."""

    tag: str | None = None
    """Tag of the image. Default: ``v`` and the operator's version."""


@dataclass(kw_only=True)
class KubeRayOperatorArgs:
    """The operator. It comes from its Helm chart unless `kustomize` is set."""

    version: str | None = None
    """Release of the operator, without a leading ``v``: decides which feature gates exist. Default: 1.6.2."""

    chart: HelmChart | None = None
    """The Helm chart. Default: the one of `version` from KubeRay's chart repository."""

    kustomize: KustomizeFolders | None = None
    """Kustomizations instead of the Helm chart."""

    namespace: str | None = None
    """Namespace of the operator. Default: ray-system."""

    create_namespace: bool | None = None
    """Create the namespace. Default: true."""

    image: OperatorImage | None = None
    """The container image. Default: the published image of `version`."""

    replicas: pulumi.Input[int] | None = None
    """Number of operator pods, 1 or more. Default: 1. More than one needs leader election."""

    leader_election: bool | None = None
    """Elect one active operator pod. Default: true."""

    use_kubernetes_proxy: bool | None = None
    """Reach the Ray dashboards through the API server's service proxy. Default: false."""

    watch_namespaces: Sequence[str] | None = None
    """Namespaces whose Ray objects the operator looks after. Default: all."""

    feature_gates: Mapping[str, bool] | None = None
    """Feature gates that differ from the defaults of `version`. Default: none. All gates are always
    rendered."""

    reconcile_concurrency: int | None = None
    """Number of objects of one kind that are reconciled at the same time, 1 or more. Default: 1."""

    metrics: bool | None = None
    """Emit the control plane's metrics. Default: true."""

    env: Mapping[str, pulumi.Input[str]] | None = None
    """Environment of the operator's container, by name. Default: none."""

    resources: Mapping[str, Any] | None = None
    """Requests and limits of the operator's container. Default: those of the chart or kustomizations."""

    values: Mapping[str, Any] | None = None
    """Helm values merged over everything above; lists are replaced, null removes. Only for the chart."""
