"""Where a Helm chart comes from."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class HelmChart:
    """A Helm chart, from a repository, a registry or this machine."""

    repository: str | None = None
    """Address of the chart repository (``https://…``), or of a folder of a registry (``oci://…``). Default: the
    project's own."""

    version: str | None = None
    """Version of the chart. Default: the version of what it installs."""

    path: str | None = None
    """A chart on this machine, as a folder or a ``.tgz`` file, instead of the repository."""
