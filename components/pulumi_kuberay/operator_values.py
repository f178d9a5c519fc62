"""From typed arguments of the operator to the values of its chart: pure functions."""

from collections.abc import Mapping
from typing import Any

from kuberay_model.versions import gates
from pulumi_kuberay.containers import secret_references
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.operator_args import (
    DEFAULT_IMAGE,
    DEFAULT_VERSION,
    KubeRayOperatorArgs,
    RbacScope,
)
from pulumi_kuberay.operator_environment import environment_variables
from pulumi_kuberay.operator_pod_args import OperatorImage
from pulumi_kuberay.rendering import found, placed, rendered

OPERATOR_NAME = "kuberay-operator"
"""Name of the chart, of the release, and of the Deployment unless it is changed."""

_RBAC: Mapping[RbacScope, Mapping[str, bool]] = {
    RbacScope.CLUSTER: {"rbacEnable": True, "singleNamespaceInstall": False},
    RbacScope.NAMESPACES: {"rbacEnable": True, "singleNamespaceInstall": True, "crNamespacedRbacEnable": True},
    RbacScope.LEADER_ELECTION: {"rbacEnable": True, "singleNamespaceInstall": True, "crNamespacedRbacEnable": False},
    RbacScope.NONE: {"rbacEnable": False},
}

_LISTS = frozenset({"env", "imagePullSecrets", "watchNamespace"})


def operator_version(args: KubeRayOperatorArgs) -> str:
    """Return the release of the operator without a leading ``v``."""
    return (args.version or DEFAULT_VERSION).removeprefix("v")


def operator_values(args: KubeRayOperatorArgs) -> dict[str, Any]:
    """Return the values that the typed arguments come to: what is unset is left to the chart.

    Only the image and the feature gates are always there. Helm replaces lists, so the list of gates is complete.

    Raises:
        ArgumentError: The version is not supported, or a feature gate does not exist in it.
    """
    image = args.image or OperatorImage()
    interval = found(rendered(args), "metrics.serviceMonitor.interval")
    derived = without_none(
        {
            "image": {
                "repository": image.repository or DEFAULT_IMAGE,
                "tag": image.tag or f"v{operator_version(args)}",
            },
            "imagePullSecrets": secret_references(args.image_pull_secrets),
            "featureGates": _feature_gates(args),
            "env": _env(args),
            "configuration": None if args.configuration is None else {"enabled": True},
            "metrics": None if interval is None else {"serviceMonitor": {"interval": f"{interval}s"}},
            **(_RBAC[RbacScope(args.rbac)] if args.rbac is not None else {}),
        }
    )
    values = deep_merge(placed(args), derived)
    return {key: value for key, value in values.items() if value or key not in _LISTS}


def chart_names(values: Mapping[str, Any], release: str) -> tuple[str, str]:
    """Return the names of the chart's Deployment and ServiceAccount, by the rules of its helper templates.

    Args:
        values: The values given to the chart.
        release: Name of the Helm release.
    """
    short = values.get("nameOverride", OPERATOR_NAME) or OPERATOR_NAME
    full = values.get("fullnameOverride", OPERATOR_NAME) or (release if short in release else f"{release}-{short}")
    deployment = str(full)[:63].removesuffix("-")
    account = values.get("serviceAccount", {})
    created = account.get("create", True)
    return deployment, str(account.get("name", OPERATOR_NAME) or (deployment if created else "default"))


def _feature_gates(args: KubeRayOperatorArgs) -> list[dict[str, Any]]:
    try:
        known = gates(operator_version(args), args.feature_gates or {})
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
    return [{"name": gate.name, "enabled": gate.enabled} for gate in known]


def _env(args: KubeRayOperatorArgs) -> list[dict[str, Any]] | None:
    variables = environment_variables(args.environment, args.env or {})
    return [{"name": name, "value": value} for name, value in variables.items()] or None
