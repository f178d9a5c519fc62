"""The structure of KubeRay's objects, as the CRDs of each version give it.

A `Schema` has the types, required fields, enums and limits of the CRDs, without their descriptions. Those of
the versions in `known` come with this package; those of any other version are made from its CRDs.
"""

from __future__ import annotations

from kuberay_model.schemas.crds import SchemaError, from_crds, from_objects
from kuberay_model.schemas.schema import INTEGERS, KINDS, LIST_KEYS, UNKNOWN_FIELD, Path, Schema, Violation
from kuberay_model.schemas.store import find, known, load, render

__all__ = [
    "INTEGERS",
    "KINDS",
    "LIST_KEYS",
    "UNKNOWN_FIELD",
    "Path",
    "Schema",
    "SchemaError",
    "Violation",
    "find",
    "from_crds",
    "from_objects",
    "known",
    "load",
    "render",
]
