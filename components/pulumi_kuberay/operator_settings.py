"""From typed arguments to what a chart or a container understands: pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from kuberay_model.versions import Gate, gates
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.operator_args import (
    DEFAULT_IMAGE,
    DEFAULT_NAMESPACE,
    DEFAULT_VERSION,
    KubeRayOperatorArgs,
    OperatorImage,
)

OPERATOR_NAME = "kuberay-operator"


@dataclass(frozen=True)
class OperatorSettings:
    """The arguments of an operator with every default filled in."""

    version: str
    namespace: str
    image_repository: str
    image_tag: str
    replicas: pulumi.Input[int]
    leader_election: bool
    use_kubernetes_proxy: bool
    watch_namespaces: tuple[str, ...]
    feature_gates: tuple[Gate, ...]
    reconcile_concurrency: int
    metrics: bool
    env: Mapping[str, pulumi.Input[str]]
    resources: Mapping[str, Any] | None


def settings(args: KubeRayOperatorArgs) -> OperatorSettings:
    """Fill in the defaults, and refuse what cannot work.

    Raises:
        ArgumentError: Both a chart and a kustomization are named, `values` go with a kustomization, a count
            is below 1, several replicas have no leader election, or a feature gate does not exist in this
            version.
    """
    version = (args.version or DEFAULT_VERSION).removeprefix("v")
    if args.chart is not None and args.kustomize is not None:
        raise ArgumentError("KubeRayOperator comes from a chart or from a kustomization, but both are set; drop one.")
    if args.kustomize is not None and args.values is not None:
        raise ArgumentError(
            "KubeRayOperator has values, which are for the Helm chart, together with a kustomization; use "
            "the kustomization's patches instead."
        )
    image = args.image or OperatorImage()
    return OperatorSettings(
        version=version,
        namespace=args.namespace or DEFAULT_NAMESPACE,
        image_repository=image.repository or DEFAULT_IMAGE,
        image_tag=image.tag or f"v{version}",
        replicas=_replicas(args),
        leader_election=_or(args.leader_election, True),
        use_kubernetes_proxy=_or(args.use_kubernetes_proxy, False),
        watch_namespaces=tuple(args.watch_namespaces or ()),
        feature_gates=_feature_gates(version, args.feature_gates or {}),
        reconcile_concurrency=_at_least_one("reconcile_concurrency", args.reconcile_concurrency),
        metrics=_or(args.metrics, True),
        env=args.env or {},
        resources=args.resources,
    )


def helm_values(operator: OperatorSettings, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for the operator's chart.

    Helm replaces lists, so the list of feature gates is always complete.

    Args:
        operator: The settings.
        overrides: The user's own values, merged last.
    """
    values = without_none(
        {
            "image": {"repository": operator.image_repository, "tag": operator.image_tag},
            "replicas": operator.replicas,
            "leaderElectionEnabled": operator.leader_election,
            "useKubernetesProxy": operator.use_kubernetes_proxy,
            "watchNamespace": list(operator.watch_namespaces) or None,
            "featureGates": [{"name": gate.name, "enabled": gate.enabled} for gate in operator.feature_gates],
            "reconcileConcurrency": operator.reconcile_concurrency,
            "metrics": {"enabled": operator.metrics},
            "env": _env(operator) or None,
            "resources": operator.resources,
        }
    )
    return deep_merge(values, overrides)


def container_patch(operator: OperatorSettings) -> dict[str, Any]:
    """Return the strategic merge patch that gives a kustomization's Deployment the settings of the chart.

    The flags are those of the operator's ``main.go``. The list of arguments replaces the one of the base.
    """
    arguments = [
        f"--feature-gates={','.join(str(gate) for gate in operator.feature_gates)}",
        f"--enable-leader-election={_flag(operator.leader_election)}",
        f"--use-kubernetes-proxy={_flag(operator.use_kubernetes_proxy)}",
        f"--enable-metrics={_flag(operator.metrics)}",
        f"--reconcile-concurrency={operator.reconcile_concurrency}",
    ]
    if operator.watch_namespaces:
        arguments.append(f"--watch-namespace={','.join(operator.watch_namespaces)}")
    container = without_none(
        {
            "name": OPERATOR_NAME,
            "image": f"{operator.image_repository}:{operator.image_tag}",
            "args": arguments,
            "env": _env(operator) or None,
            "resources": operator.resources,
        }
    )
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": OPERATOR_NAME},
        "spec": {"replicas": operator.replicas, "template": {"spec": {"containers": [container]}}},
    }


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


def _env(operator: OperatorSettings) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in operator.env.items()]


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _or(value: bool | None, default: bool) -> bool:
    return default if value is None else bool(value)


def _at_least_one(name: str, value: float | None) -> int:
    number = 1 if value is None else int(value)
    if number < 1:
        raise ArgumentError(f"{name} of KubeRayOperator must be 1 or more, but it is {number}.")
    return number


def _replicas(args: KubeRayOperatorArgs) -> pulumi.Input[int]:
    if args.replicas is not None and not isinstance(args.replicas, int | float):
        return args.replicas
    replicas = _at_least_one("replicas", args.replicas)
    if replicas > 1 and args.leader_election is False:
        raise ArgumentError(
            f"KubeRayOperator has {replicas} replicas without leader election, so that all of them would "
            "act on the same Ray objects; leave leader_election on or use one replica."
        )
    return replicas


def _feature_gates(version: str, overrides: Mapping[str, bool]) -> tuple[Gate, ...]:
    try:
        return gates(version, overrides)
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
