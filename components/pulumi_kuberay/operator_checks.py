"""What cannot work about an operator: pure functions that give sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from kuberay_model.sentences import listed
from kuberay_model.versions import Version
from pulumi_kuberay.names import namespace_problems
from pulumi_kuberay.operator_args import DEFAULT_NAMESPACE, KubeRayOperatorArgs, RbacScope
from pulumi_kuberay.operator_environment import DELETE_RAYJOB, SINCE, VARIABLE
from pulumi_kuberay.operator_values import operator_version
from pulumi_kuberay.quantities import amount_problems
from pulumi_kuberay.rendering import found, rendered

SINCE_VERSION: Mapping[str, Version] = {
    "configuration.headSidecarContainers": Version(1, 6, 0),
    "configuration.workerSidecarContainers": Version(1, 6, 0),
    "configuration.defaultPodAnnotations": Version(1, 7, 0),
    "configuration.defaultPodLabels": Version(1, 7, 0),
    "metrics.serviceMonitor.additionalLabels": Version(1, 7, 0),
}
"""Values that only a chart of this version or a newer one has."""

BEFORE_VERSION: Mapping[str, tuple[Version, str]] = {
    "metrics.serviceMonitor.selector": (Version(1, 7, 0), "additional_labels"),
}
"""Values that only a chart before this version has, and what replaces them."""

_LEAST: Mapping[str, int] = {
    "replicas": 1,
    "reconcileConcurrency": 1,
    "kubeClient.qps": 0,
    "kubeClient.burst": 0,
    "service.port": 1,
    "livenessProbe.initialDelaySeconds": 0,
    "livenessProbe.periodSeconds": 1,
    "livenessProbe.failureThreshold": 1,
    "readinessProbe.initialDelaySeconds": 0,
    "readinessProbe.periodSeconds": 1,
    "readinessProbe.failureThreshold": 1,
}
_MAX_PORT = 65535
_CHART_ONLY = (
    "install",
    "values",
    "rbac",
    "service_account",
    "configuration",
    "service",
    "labels",
    "annotations",
    "name_override",
    "fullname_override",
    "component_override",
)
"""Arguments that a kustomization cannot take: its objects have what they have, and `patches` change them."""

_FILE_MODE_FIXED = Version(1, 7, 0)


def operator_problems(args: KubeRayOperatorArgs, values: Mapping[str, Any]) -> Iterator[str]:
    """Say what cannot work.

    Args:
        args: The typed arguments.
        values: The values for the chart, the user's own included.
    """
    version = Version.parse(operator_version(args))
    yield from _source_problems(args)
    yield from namespace_problems("namespace", args.namespace or DEFAULT_NAMESPACE)
    yield from _watch_problems(args)
    yield from _count_problems(args, values)
    yield from _availability_problems(values, version)
    yield from _environment_problems(args, version)
    yield from _logging_problems(values)
    yield from _scheduler_problems(args, values, version)
    yield from _file_mode_problems(args, values, version)


def deletes_finished_jobs(values: Mapping[str, Any]) -> bool:
    """Tell whether the operator deletes RayJob objects after their end."""
    variables = {item.get("name"): item.get("value") for item in values.get("env") or ()}
    return bool(variables.get(DELETE_RAYJOB) == "true")


def _source_problems(args: KubeRayOperatorArgs) -> Iterator[str]:
    if args.kustomize is None:
        return
    if args.chart is not None:
        yield "It comes from a chart or from a kustomization, but both are set; drop one."
    chart_only = [name for name in _CHART_ONLY if getattr(args, name) is not None]
    if args.metrics is not None and args.metrics.service_monitor is not None:
        chart_only.append("metrics.service_monitor")
    if chart_only:
        yield (
            f"{listed(chart_only)} can be set for the Helm chart only, but it comes from a kustomization; use the "
            "patches of kustomize instead."
        )


def _watch_problems(args: KubeRayOperatorArgs) -> Iterator[str]:
    watched = args.watch_namespaces or ()
    for namespace in watched:
        yield from namespace_problems("A name in watch_namespaces", namespace)
    if len(set(watched)) < len(watched):
        yield f"watch_namespaces has a namespace twice: {', '.join(watched)}."


def _count_problems(args: KubeRayOperatorArgs, values: Mapping[str, Any]) -> Iterator[str]:
    for place, least in _LEAST.items():
        number = found(values, place)
        if isinstance(number, int | float) and number < least:
            yield f"{place} must be {least} or more, but it is {number}."
    port = found(values, "service.port")
    if isinstance(port, int | float) and port > _MAX_PORT:
        yield f"service.port must be {_MAX_PORT} or less, but it is {port}."
    monitor = args.metrics.service_monitor if args.metrics is not None else None
    if monitor is not None and monitor.interval_seconds is not None and monitor.interval_seconds < 1:
        yield f"interval_seconds of service_monitor must be 1 or more, but it is {monitor.interval_seconds}."
    replicas = values.get("replicas")
    if isinstance(replicas, int | float) and replicas > 1 and values.get("leaderElectionEnabled") is False:
        yield (
            f"There are {rendered(replicas)} replicas without leader election, so that all of them would act on the "
            "same Ray objects; leave leader_election on or use one replica."
        )


def _availability_problems(values: Mapping[str, Any], version: Version) -> Iterator[str]:
    for place, since in SINCE_VERSION.items():
        if found(values, place) is not None and version < since:
            yield (
                f"{place} exists in the chart since {since}, but the operator is {version}, which would ignore it; "
                "remove it, or install such an operator."
            )
    for place, (before, successor) in BEFORE_VERSION.items():
        if found(values, place) is not None and version >= before:
            yield (
                f"{place} exists in the chart before {before} only, but the operator is {version}, which would ignore "
                f"it; use {successor}."
            )


def _environment_problems(args: KubeRayOperatorArgs, version: Version) -> Iterator[str]:
    typed = args.environment
    for item in fields(typed) if typed is not None else ():
        value, name, since = getattr(typed, item.name), item.metadata[VARIABLE], item.metadata[SINCE]
        if value is None:
            continue
        if name in (args.env or {}):
            yield f"The variable {name} is in env and, as {item.name}, in environment; keep the typed one."
        if since is not None and version < since:
            yield f"{item.name} of environment exists since {since}, but the operator is {version}; remove it."
        if isinstance(value, int | float) and not isinstance(value, bool) and value < 1:
            yield f"{item.name} of environment must be 1 or more seconds, but it is {rendered(value)}."


def _logging_problems(values: Mapping[str, Any]) -> Iterator[str]:
    folder, name = found(values, "logging.baseDir"), found(values, "logging.fileName")
    if bool(folder) != bool(name):
        given, missing = ("base_dir", "file_name") if folder else ("file_name", "base_dir")
        yield f"logging has a {given} without a {missing}, so that there would be no file; set both, or none."
    if folder and not str(folder).startswith("/"):
        yield f"base_dir of logging must be an absolute path, but it is {folder!r}."
    limit = found(values, "logging.sizeLimit")
    if limit:
        yield from amount_problems("size_limit of logging", limit)
        if not folder:
            yield "logging has a size_limit without a base_dir, so that there is no volume to limit."


def _scheduler_problems(args: KubeRayOperatorArgs, values: Mapping[str, Any], version: Version) -> Iterator[str]:
    name = found(values, "batchScheduler.name")
    if found(values, "batchScheduler.enabled") and name:
        yield (
            f"batchScheduler is enabled and named {name}, on which the operator exits; drop batchScheduler.enabled "
            "from values."
        )
    if name and args.rbac == RbacScope.NAMESPACES and version < Version(1, 7, 0):
        yield (
            f"The chart of {version} gives Roles in namespaces no rights for the batch scheduler {name}; use rbac "
            "cluster, an operator of 1.7.0, or Roles of your own with rbac leader-election."
        )


def _file_mode_problems(args: KubeRayOperatorArgs, values: Mapping[str, Any], version: Version) -> Iterator[str]:
    if not found(values, "configuration.enabled") or version >= _FILE_MODE_FIXED:
        return
    if deletes_finished_jobs(values):
        yield (f"With configuration the operator of {version} ignores {DELETE_RAYJOB}; drop one of them.")
    if args.logging is not None and "console" in (args.logging.stdout_encoder, args.logging.file_encoder):
        yield f"With configuration the operator of {version} writes its log as json whatever logging says; drop it."
