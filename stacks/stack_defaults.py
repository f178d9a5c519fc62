"""What the parts of a stack take from its common settings where they say nothing themselves."""

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from config_errors import ConfigError
from stack_config import StackConfig
from stack_file import PROJECT

from pulumi_kuberay import (
    HelmChart,
    KubeRayCrdsArgs,
    KubeRayOperatorArgs,
    KueueArgs,
    RayClusterArgs,
    RayClusterTemplate,
    RayJobArgs,
)
from pulumi_kuberay.kueue_args import DEFAULT_VERSION as KUEUE_VERSION
from pulumi_kuberay.operator_args import DEFAULT_VERSION as KUBERAY_VERSION

OPERATOR_CHART = "kuberay-operator"
KUEUE_CHART = "kueue"
_RELEASES = "https://github.com/ray-project/kuberay-helm/releases/download"

_RayArgs = TypeVar("_RayArgs", RayClusterArgs, RayJobArgs)


def with_defaults(config: StackConfig) -> StackConfig:
    """Return the configuration with versions, charts and namespaces filled in.

    Raises:
        ConfigError: A chart is not in the folder of `charts`.
    """
    return replace(
        config,
        crds=_crds(config),
        operator=_operator(config),
        kueue=_kueue(config),
        ray_clusters={name: _ray_object(args, config) for name, args in config.ray_clusters.items()},
        ray_jobs={name: _ray_object(args, config) for name, args in config.ray_jobs.items()},
    )


def kuberay_version(config: StackConfig) -> str | None:
    """Return the release of the operator that this stack names, without a leading ``v``; None leaves the default."""
    own = config.operator.version if config.operator else None
    named = own or config.versions.kuberay
    return named.removeprefix("v") if named else None


def local_chart(folder: Path, name: str, version: str) -> Path:
    """Find a Helm chart on this machine.

    Args:
        folder: Where the charts are.
        name: Name of the chart.
        version: Its release, part of the name of a packed chart.

    Raises:
        ConfigError: It is not there.
    """
    candidates = (folder / name, folder / f"{name}-{version}.tgz")
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    raise ConfigError(
        f"{PROJECT}:charts names the folder {str(folder)!r}, but the chart {name} is not in it: expected "
        f"{candidates[0].name} or {candidates[1].name}. Paths are relative to the program's folder."
    )


def _crds(config: StackConfig) -> KubeRayCrdsArgs | None:
    if config.crds is None:
        return None
    crds = replace(config.crds, throwaway=config.throwaway or config.crds.throwaway)
    if any((crds.folder, crds.chart, crds.url)):
        return crds
    version = kuberay_version(config) or KUBERAY_VERSION
    if config.charts is not None:
        return replace(crds, chart=str(local_chart(config.charts, OPERATOR_CHART, version)))
    return replace(crds, url=f"{_RELEASES}/{OPERATOR_CHART}-{version}/{OPERATOR_CHART}-{version}.tgz")


def _operator(config: StackConfig) -> KubeRayOperatorArgs | None:
    operator = config.operator
    if operator is None:
        return None
    operator = replace(operator, version=kuberay_version(config))
    if config.charts is None or operator.chart is not None or operator.kustomize is not None:
        return operator
    chart = local_chart(config.charts, OPERATOR_CHART, kuberay_version(config) or KUBERAY_VERSION)
    return replace(operator, chart=HelmChart(path=str(chart)))


def _kueue(config: StackConfig) -> KueueArgs | None:
    kueue = config.kueue
    if kueue is None:
        return None
    version = (kueue.version or config.versions.kueue or KUEUE_VERSION).removeprefix("v")
    kueue = replace(kueue, version=version, throwaway=config.throwaway or kueue.throwaway)
    if config.charts is None or kueue.chart is not None:
        return kueue
    return replace(kueue, chart=HelmChart(path=str(local_chart(config.charts, KUEUE_CHART, version))))


def _ray_object(args: _RayArgs, config: StackConfig) -> _RayArgs:
    job = args if isinstance(args, RayJobArgs) else RayJobArgs()
    defaults: dict[str, Any] = {
        "kuberay_version": kuberay_version(config),
        "feature_gates": config.operator.feature_gates if config.operator else None,
    }
    if job.manifest is None:
        defaults["namespace"] = config.namespace
    unset = {name: value for name, value in defaults.items() if getattr(args, name) is None}
    if job.manifest is None and job.cluster_selector is None and args.ray_cluster_spec is None:
        unset["cluster"] = _cluster(args.cluster, config)
    return replace(args, **unset)


def _cluster(cluster: RayClusterTemplate | None, config: StackConfig) -> RayClusterTemplate | None:
    if config.versions.ray is None:
        return cluster
    cluster = cluster or RayClusterTemplate()
    if cluster.ray_version is not None or cluster.image is not None:
        return cluster
    return replace(cluster, ray_version=config.versions.ray)
