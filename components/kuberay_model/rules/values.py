"""Reading a manifest without trusting it, and the defaults of the CRD.

Reading never fails: a field of the wrong type reads as unset, and the schema rules report the type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Fields = Mapping[str, Any]

INT32_MAX = 2**31 - 1

_SPEC_DEFAULTS: Fields = {"backoffLimit": 0, "submissionMode": "K8sJobMode", "ttlSecondsAfterFinished": 0}
_CONDITION_DEFAULTS: Fields = {"ttlSeconds": 0}
_WORKER_DEFAULTS: Fields = {"replicas": 0, "minReplicas": 0, "maxReplicas": INT32_MAX, "numOfHosts": 1}


def mapping(value: object) -> Fields:
    """Return the value if it is a mapping, and an empty mapping otherwise."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[Any]:
    """Return the value if it is a list, and an empty list otherwise."""
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def text(value: object) -> str:
    """Return the value if it is a string, and the empty string otherwise, as Go decodes an unset string."""
    return value if isinstance(value, str) else ""


def integer(value: object) -> int | None:
    """Return the value if it is an integer; True is not 1."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def without_nulls(value: Any) -> Any:
    """Copy a value as the API server prunes it: a null field is an unset field."""
    if isinstance(value, Mapping):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(inner) for inner in value]
    return value


def defaulted(manifest: Fields) -> dict[str, Any]:
    """Copy a RayJob with nulls pruned and the defaults of the CRD applied, as the API server stores it."""
    copy: dict[str, Any] = without_nulls(manifest)
    spec = copy.setdefault("spec", {})
    if not isinstance(spec, dict):
        return copy
    _fill(spec, _SPEC_DEFAULTS)
    for rule in items(mapping(spec.get("deletionStrategy")).get("deletionRules")):
        _fill(mapping(rule).get("condition"), _CONDITION_DEFAULTS)
    for group in items(mapping(spec.get("rayClusterSpec")).get("workerGroupSpecs")):
        _fill(group, _WORKER_DEFAULTS)
    return copy


def _fill(target: object, defaults: Fields) -> None:
    if isinstance(target, dict):
        for name, value in defaults.items():
            target.setdefault(name, value)
