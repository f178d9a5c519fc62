"""Kubernetes objects from resources of a Pulumi program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kuberay_policies.subjects import Options, Source, Subject

PROVIDER = "kubernetes:"
NOT_OBJECTS = ("helm.sh", "kustomize", "yaml", "index", "meta/v1:")
"""Modules of the provider whose resources are no Kubernetes objects."""
_SCHEMAS = frozenset({"schema"})


def is_object(resource_type: str) -> bool:
    """Tell whether resources of a type, such as `kubernetes:ray.io/v1:RayJob`, are Kubernetes objects."""
    package, _, rest = resource_type.partition(":")
    module, _, kind = rest.partition(":")
    return (
        f"{package}:" == PROVIDER
        and bool(kind)
        and "/" in module
        and not module.startswith(NOT_OBJECTS)
        and not kind.endswith(("List", "Patch"))
    )


def kind_of(resource_type: str) -> tuple[str, str]:
    """Return `apiVersion` and `kind` of a type."""
    _, module, kind = resource_type.split(":")
    return module.removeprefix("core/"), kind


def unwanted(resource_type: str) -> frozenset[str]:
    """Return the keys of a type that policies do not look at: the schemas of CRDs, which are megabytes."""
    return _SCHEMAS if kind_of(resource_type)[1] == "CustomResourceDefinition" else frozenset()


def subject(resource_type: str, urn: str, properties: Mapping[str, Any], options: Options | None) -> Subject:
    """Return the object of a resource.

    Args:
        resource_type: A type for which `is_object` holds.
        urn: URN of the resource.
        properties: Its inputs as plain values.
        options: Its resource options.
    """
    api_version, kind = kind_of(resource_type)
    given = {key: value for key, value in properties.items() if not key.startswith("__")}
    return Subject({"apiVersion": api_version, "kind": kind, **given}, Source(urn=urn), options)
