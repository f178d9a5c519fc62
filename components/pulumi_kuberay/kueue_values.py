"""From the typed arguments of Kueue to the values of its chart: pure functions."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from pulumi_kuberay.containers import secret_references
from pulumi_kuberay.errors import ArgumentError, refuse
from pulumi_kuberay.kueue_args import (
    DEFAULT_IMAGE,
    DEFAULT_NAMESPACE,
    DEFAULT_VERSION,
    CertManager,
    KueueArgs,
    KueueImage,
    WebhookService,
)
from pulumi_kuberay.kueue_configuration import configuration, configuration_problems, configuration_text
from pulumi_kuberay.kueue_configuration_args import KueueConfiguration
from pulumi_kuberay.kueue_gates import gate_problems
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.names import namespace_problems
from pulumi_kuberay.rendering import placed, rendered

CHART_NAME = "kueue"
"""Name of the chart, and of the release."""

_CONFIGURATION = ("managerConfig", "controllerManagerConfigYaml")


def kueue_values(args: KueueArgs, base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for Kueue's chart.

    Args:
        args: The typed arguments; its `values` are merged last.
        base: The chart's own configuration of the controller.

    Raises:
        ArgumentError: Kueue would exit on the configuration, or arguments contradict each other; every reason is
            told.
    """
    wanted = args.configuration or KueueConfiguration()
    configured = configuration(base, wanted)
    values = deep_merge(placed(args), _derived_values(args))
    values = deep_merge(values, {"managerConfig": {_CONFIGURATION[1]: configuration_text(configured)}})
    values = deep_merge(values, args.values or {})
    final = _final_configuration(values)
    refuse("Kueue cannot be installed like this.", _problems(args, wanted, values, final))
    return values


def full_name(values: Mapping[str, Any]) -> str:
    """Return what the names of the chart's objects begin with, by the rule of its helper templates."""
    short = values.get("nameOverride") or CHART_NAME
    full = values.get("fullnameOverride") or (CHART_NAME if short in CHART_NAME else f"{CHART_NAME}-{short}")
    return str(full)[:63].removesuffix("-")


def kueue_version(args: KueueArgs) -> str:
    """Return the release of Kueue without a leading ``v``."""
    return (args.version or DEFAULT_VERSION).removeprefix("v")


def _derived_values(args: KueueArgs) -> dict[str, Any]:
    image = args.image or KueueImage()
    budget = None if args.min_available is None else {"enabled": True, "minAvailable": rendered(args.min_available)}
    manager = {
        "manager": {
            "image": {
                "repository": image.repository or DEFAULT_IMAGE,
                "tag": image.tag or f"v{kueue_version(args)}",
                "pullPolicy": rendered(image.pull_policy) or "IfNotPresent",
            }
        },
        "replicas": rendered(args.replicas),
        "featureGates": [{"name": name, "enabled": on} for name, on in sorted((args.feature_gates or {}).items())]
        or None,
        "podDisruptionBudget": budget,
        "imagePullSecrets": secret_references(args.image_pull_secrets),
        "dnsPolicy": "ClusterFirstWithHostNet" if args.host_network and args.dns_policy is None else args.dns_policy,
    }
    prometheus = args.prometheus
    return without_none(
        {
            "controllerManager": without_none(manager),
            "enableCertManager": True if args.cert_manager is not None else None,
            "certManager": _issuer(args.cert_manager),
            "enablePrometheus": True if prometheus is not None else None,
            "metrics": without_none(
                {
                    "prometheusNamespace": prometheus.namespace,
                    "serviceMonitor": None if prometheus.tls_config is None else {"tlsConfig": prometheus.tls_config},
                }
            )
            if prometheus is not None
            else None,
            "webhookService": _dual_stack(args.webhook_service),
        }
    )


def _issuer(cert_manager: CertManager | None) -> dict[str, Any] | None:
    if cert_manager is None or cert_manager.issuer_name is None:
        return None
    return {
        "issuerRef": {
            "name": cert_manager.issuer_name,
            "kind": cert_manager.issuer_kind or "Issuer",
            "group": cert_manager.issuer_group or "cert-manager.io",
        }
    }


def _dual_stack(service: WebhookService | None) -> dict[str, Any] | None:
    if service is None or service.ip_families is None:
        return None
    stack = {"enabled": True, "ipFamilies": list(service.ip_families), "ipFamilyPolicy": service.ip_family_policy}
    return {"ipDualStack": without_none(stack)}


def _final_configuration(values: Mapping[str, Any]) -> dict[str, Any]:
    text = (values.get(_CONFIGURATION[0]) or {}).get(_CONFIGURATION[1])
    try:
        final = yaml.safe_load(str(text))
    except yaml.YAMLError as error:
        raise ArgumentError(f"{'.'.join(_CONFIGURATION)} in the values of Kueue is not valid YAML: {error}") from error
    if not isinstance(final, dict):
        raise ArgumentError(
            f"{'.'.join(_CONFIGURATION)} in the values of Kueue must be a mapping, but it is {final!r}."
        )
    return final


def _problems(
    args: KueueArgs, wanted: KueueConfiguration, values: Mapping[str, Any], final: Mapping[str, Any]
) -> Iterator[str]:
    namespace = args.namespace or DEFAULT_NAMESPACE
    yield from namespace_problems("Its namespace", namespace)
    yield from configuration_problems(final, wanted, namespace)
    yield from gate_problems(kueue_version(args), args.feature_gates or {})
    yield from _count_problems(args, final)
    yield from _contradictions(args, values, final)


def _count_problems(args: KueueArgs, final: Mapping[str, Any]) -> Iterator[str]:
    for what, count, least in (
        ("replicas", args.replicas, 1),
        ("min_available", args.min_available, 1),
        ("log_level", args.log_level, 0),
    ):
        if isinstance(count, int | float) and count < least:
            yield f"{what} must be {least} or more, but it is {rendered(count)}."
    elects = (final.get("leaderElection") or {}).get("leaderElect")
    if isinstance(args.replicas, int | float) and args.replicas > 1 and elects is False:
        yield (
            f"There are {rendered(args.replicas)} replicas without leader election, so that all of them would admit "
            "the same workloads; leave leader_elect on or use one replica."
        )
    if isinstance(args.replicas, int | float) and args.min_available is not None and args.min_available > args.replicas:
        yield f"min_available is {args.min_available}, but there are only {rendered(args.replicas)} replicas."


def _contradictions(args: KueueArgs, values: Mapping[str, Any], final: Mapping[str, Any]) -> Iterator[str]:
    if args.feature_gates and final.get("featureGates"):
        yield "Feature gates are in feature_gates and in the configuration, which Kueue refuses; use feature_gates."
    signs = (final.get("internalCertManagement") or {}).get("enable")
    if values.get("enableCertManager") and signs:
        yield "cert_manager is set and internal_cert_management is enabled; only one of them can make certificates."
    if not values.get("enableCertManager") and signs is False:
        yield (
            "internal_cert_management is off without cert_manager, so that the webhooks would have no certificate; "
            "set cert_manager, or leave it on."
        )
    manager = args.cert_manager
    if manager is not None and manager.issuer_name is None and (manager.issuer_kind or manager.issuer_group):
        yield "cert_manager has an issuer_kind or issuer_group without an issuer_name; name the issuer."
    service = args.webhook_service
    if service is not None and service.ip_family_policy is not None and service.ip_families is None:
        yield "webhook_service has an ip_family_policy without ip_families; name them."
    if args.dashboard_values is not None and not args.dashboard:
        yield "There are dashboard_values, but dashboard is off; turn it on, or drop them."
