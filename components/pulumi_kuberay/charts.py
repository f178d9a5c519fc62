"""Helm charts: where they come from, and what one on this machine says of itself."""

import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.helm import v4

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.helm_chart import HelmChart

_OCI = "oci://"


def chart_location(chart: HelmChart, name: str, repository: str, version: str) -> dict[str, str]:
    """Return the arguments that tell Pulumi's Helm resources where a chart is.

    Args:
        chart: What the user said about it.
        name: Name of the chart.
        repository: Its own repository: an address of ``index.yaml``, or of a registry (``oci://``).
        version: Its version, unless the user said another.

    Returns:
        The ``chart``, and for one that is not on this machine its ``version`` and its ``repo``, if that is no
        registry.
    """
    if chart.path is not None:
        return {"chart": str(Path(chart.path).expanduser())}
    address, version = chart.repository or repository, chart.version or version
    if address.startswith(_OCI):
        return {"chart": f"{address.rstrip('/')}/{name}", "version": version}
    return {"chart": name, "version": version, "repo": address}


def templated_chart(
    name: str,
    location: Mapping[str, str],
    release: str,
    namespace: str,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
) -> pulumi.Resource:
    """Declare a chart whose objects Pulumi templates and owns one by one, without its ``crds/`` folder.

    Args:
        name: Pulumi's logical name.
        location: From `chart_location`.
        release: Name of the release in the templates.
        namespace: Namespace of its objects.
        values: Its values.
        opts: Pulumi's resource options.
    """
    args = v4.ChartArgs(
        chart=location["chart"],
        version=location.get("version"),
        repository_opts=v4.RepositoryOptsArgs(repo=location["repo"]) if "repo" in location else None,
        name=release,
        namespace=namespace,
        skip_crds=True,
        values=values,
    )
    return v4.Chart(name, args, opts)


def helm_release(
    name: str,
    location: Mapping[str, str],
    release: str,
    namespace: str,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
) -> pulumi.Resource:
    """Declare a chart that Helm installs, upgrades and owns as one release. See `templated_chart`."""
    from pulumi_kubernetes.helm import v3  # takes a second to import, and few programs need it

    args = v3.ReleaseArgs(
        chart=location["chart"],
        version=location.get("version"),
        repository_opts=v3.RepositoryOptsArgs(repo=location["repo"]) if "repo" in location else None,
        name=release,
        namespace=namespace,
        skip_crds=True,
        values=values,
    )
    return v3.Release(name, args, opts)


def chart_values(path: str) -> dict[str, Any]:
    """Return the default values of a chart on this machine.

    Args:
        path: An unpacked chart, or its packed ``.tgz`` file.

    Raises:
        ArgumentError: There is no chart, or its ``values.yaml`` is no mapping.
    """
    chart = Path(path).expanduser()
    try:
        text = _packed_values(chart) if chart.is_file() else (chart / "values.yaml").read_bytes()
        values = yaml.safe_load(text)
    except (OSError, KeyError, tarfile.TarError, yaml.YAMLError) as error:
        raise ArgumentError(
            f"{path!r} is no Helm chart with a values.yaml: {error}. Name the chart's folder or its .tgz file."
        ) from error
    if not isinstance(values, dict):
        raise ArgumentError(f"The values.yaml of the chart {path!r} must be a mapping, but it is {values!r}.")
    return values


def _packed_values(chart: Path) -> bytes:
    with tarfile.open(chart, mode="r:gz") as archive:
        for member in archive.getmembers():
            parts = Path(member.name).parts
            file = archive.extractfile(member) if len(parts) == 2 and parts[1] == "values.yaml" else None
            if file is not None:
                return file.read()
    raise KeyError("values.yaml is not in it")
