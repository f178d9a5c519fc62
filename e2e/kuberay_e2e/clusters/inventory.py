"""What a cluster has of KubeRay before anything is done to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.errors import HarnessError

GROUP = "ray.io"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DEPLOYMENTS = "/apis/apps/v1/deployments"
_NAMESPACES = "/api/v1/namespaces"
_NAME_LABEL = "app.kubernetes.io/name"
_OPERATOR = "kuberay-operator"
_WATCHED = "--watch-namespace"


@dataclass(frozen=True)
class InstalledOperator:
    """A KubeRay operator that is there.

    Attributes:
        namespace: Namespace of its Deployment.
        name: Name of its Deployment.
        version: Tag of its image, without a leading `v`.
        replicas: Replicas that it is to have.
        ready: Replicas that are ready.
        watched: Namespaces that it looks after; empty for all.
    """

    namespace: str
    name: str
    version: str
    replicas: int = 1
    ready: int = 1
    watched: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"the operator {self.version} of the Deployment {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Inventory:
    """What there is.

    Attributes:
        kubernetes: Version of the API server.
        namespaces: Names of all namespaces.
        crds: Names of KubeRay's CRDs.
        operators: KubeRay's operators.
        roles: Names of all ClusterRoles and ClusterRoleBindings.
    """

    kubernetes: str
    namespaces: frozenset[str]
    crds: tuple[str, ...] = ()
    operators: tuple[InstalledOperator, ...] = ()
    roles: frozenset[str] = field(default=frozenset())

    @classmethod
    def read(cls, access: Access) -> "Inventory":
        """Look at a cluster.

        Raises:
            HarnessError: It does not answer, or does not let the user look.
        """
        try:
            with access.client(timeout=20.0) as client:
                version = _json(client, "/version").get("gitVersion", "")
                crds = _names(client, CRDS)
                rbac = "/apis/rbac.authorization.k8s.io/v1"
                return cls(
                    str(version),
                    frozenset(_names(client, _NAMESPACES)),
                    tuple(name for name in crds if name.endswith(f".{GROUP}")),
                    tuple(operators(_json(client, _DEPLOYMENTS)["items"])),
                    frozenset(_names(client, f"{rbac}/clusterroles") + _names(client, f"{rbac}/clusterrolebindings")),
                )
        except httpx.HTTPError as error:
            raise HarnessError(
                f"The cluster at {access.server} does not answer ({error}). Is it running, and is it the context that "
                "you meant?"
            ) from error


def operators(deployments: Sequence[Mapping[str, Any]]) -> list[InstalledOperator]:
    """The KubeRay operators among Deployments, by their label or by their image."""
    return [_operator(item) for item in deployments if _is_operator(item)]


def _is_operator(deployment: Mapping[str, Any]) -> bool:
    labels = deployment["metadata"].get("labels") or {}
    images = [container.get("image", "") for container in deployment["spec"]["template"]["spec"]["containers"]]
    return labels.get(_NAME_LABEL) == _OPERATOR or any("kuberay/operator" in image for image in images)


def _operator(deployment: Mapping[str, Any]) -> InstalledOperator:
    meta, spec, status = deployment["metadata"], deployment["spec"], deployment.get("status") or {}
    container = spec["template"]["spec"]["containers"][0]
    image = container["image"].partition("@")[0]
    tag = image.rpartition(":")[2] if ":" in image.rpartition("/")[2] else ""
    arguments = [*container.get("command", ()), *container.get("args", ())]
    watched = [argument.partition("=")[2] for argument in arguments if argument.lstrip("-").startswith(_WATCHED[2:])]
    return InstalledOperator(
        meta["namespace"],
        meta["name"],
        tag.removeprefix("v"),
        int(spec.get("replicas", 1)),
        int(status.get("readyReplicas") or 0),
        tuple(name for text in watched for name in text.split(",") if name),
    )


def _names(client: httpx.Client, path: str) -> list[str]:
    return sorted(item["metadata"]["name"] for item in _json(client, path)["items"])


def _json(client: httpx.Client, path: str) -> Any:
    answer = client.get(path)
    if not answer.is_success:
        raise HarnessError(
            f"Expected to read {path} of the cluster before anything is done to it, got {answer.status_code}: "
            f"{answer.text[:300]}"
        )
    return answer.json()
