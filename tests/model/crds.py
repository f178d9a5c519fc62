"""Small CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def crd(kind: str, properties: Mapping[str, Any], *, group: str = "ray.io", version: str = "v1") -> dict[str, Any]:
    """Return a CRD of a kind with the properties of its objects."""
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": group, "names": {"kind": kind}, "versions": [{"name": version, "schema": schema}]},
    }
