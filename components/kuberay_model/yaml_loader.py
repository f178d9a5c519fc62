"""The YAML loaders of this package: the C ones where PyYAML was built with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from yaml import SafeLoader as Loader
else:
    Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

__all__ = ["Loader", "ManifestLoader"]

_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class ManifestLoader(Loader):
    """Reads dates as strings, as Kubernetes clients do."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in Loader.yaml_implicit_resolvers.items()
    }
