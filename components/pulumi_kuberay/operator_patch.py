"""The settings of the chart as a patch for a kustomization of the operator."""

from collections.abc import Mapping
from typing import Any

from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.operator_values import OPERATOR_NAME
from pulumi_kuberay.rendering import found

_CHART_DEFAULTS: Mapping[str, Any] = {
    "replicas": 1,
    "leaderElectionEnabled": True,
    "useKubernetesProxy": False,
    "metrics": {"enabled": True},
    "reconcileConcurrency": 1,
}
"""What the chart sets and the operator's own flags default to otherwise."""

_FLAGS: Mapping[str, str] = {
    "leaderElectionEnabled": "enable-leader-election",
    "useKubernetesProxy": "use-kubernetes-proxy",
    "metrics.enabled": "enable-metrics",
    "reconcileConcurrency": "reconcile-concurrency",
    "kubeClient.qps": "qps",
    "kubeClient.burst": "burst",
    "batchScheduler.name": "batch-scheduler",
    "logging.stdoutEncoder": "log-stdout-encoder",
    "logging.fileEncoder": "log-file-encoder",
}
_LOG_VOLUME = "kuberay-logs"


def deployment_patch(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the strategic merge patch that gives a kustomization's Deployment the settings of the chart.

    The flags are those of the operator's ``main.go``. The list of arguments replaces the one of the base.

    Args:
        values: The values for the chart.
    """
    values = deep_merge(_CHART_DEFAULTS, values)
    folder = found(values, "logging.baseDir")
    container = without_none(
        {
            "name": OPERATOR_NAME,
            "image": f"{values['image']['repository']}:{values['image']['tag']}",
            "imagePullPolicy": values["image"].get("pullPolicy"),
            "command": [values["operatorCommand"]] if values.get("operatorCommand") else None,
            "args": _arguments(values),
            "env": values.get("env"),
            "resources": values.get("resources"),
            "livenessProbe": values.get("livenessProbe"),
            "readinessProbe": values.get("readinessProbe"),
            "securityContext": values.get("securityContext"),
            "volumeMounts": [{"name": _LOG_VOLUME, "mountPath": folder}] if folder else None,
        }
    )
    pod = without_none(
        {
            "containers": [container],
            "imagePullSecrets": values.get("imagePullSecrets"),
            "securityContext": values.get("podSecurityContext"),
            "nodeSelector": values.get("nodeSelector"),
            "affinity": values.get("affinity"),
            "tolerations": values.get("tolerations"),
            "priorityClassName": values.get("priorityClassName"),
            "volumes": [_log_volume(values)] if folder else None,
        }
    )
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": OPERATOR_NAME},
        "spec": {"replicas": values["replicas"], "template": {"spec": pod}},
    }


def _arguments(values: Mapping[str, Any]) -> list[str]:
    gates = ",".join(f"{gate['name']}={_text(gate['enabled'])}" for gate in values["featureGates"])
    arguments = [f"--feature-gates={gates}"]
    arguments += [
        f"--{flag}={_text(value)}" for place, flag in _FLAGS.items() if (value := found(values, place)) is not None
    ]
    if folder := found(values, "logging.baseDir"):
        arguments.append(f"--log-file-path={folder}/{found(values, 'logging.fileName')}")
    if values.get("watchNamespace"):
        arguments.append(f"--watch-namespace={','.join(values['watchNamespace'])}")
    return arguments


def _log_volume(values: Mapping[str, Any]) -> dict[str, Any]:
    limit = found(values, "logging.sizeLimit")
    return {"name": _LOG_VOLUME, "emptyDir": {"sizeLimit": limit} if limit else {}}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
