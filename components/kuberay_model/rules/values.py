"""Reading a manifest without trusting it, and the defaults of the CRD.

Reading never fails: a field of the wrong type reads as unset, and the schema rules report the type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Fields = Mapping[str, Any]

INT32_MAX = 2**31 - 1

_SPEC_DEFAULTS: Fields = {"backoffLimit": 0, "submissionMode": "K8sJobMode", "ttlSecondsAfterFinished": 0}
_CONDITION_DEFAULTS: Fields = {"ttlSeconds": 0}
_WORKER_DEFAULTS: Fields = {"replicas": 0, "minReplicas": 0, "maxReplicas": INT32_MAX, "numOfHosts": 1}


def mapping(value: object) -> Fields:
    """Return the value if it is a mapping, and an empty mapping otherwise."""
    # The exact types come first because asking for an abstract one takes several times as long.
    return value if isinstance(value, dict) or isinstance(value, Mapping) else {}  # noqa: SIM101


def items(value: object) -> Sequence[Any]:
    """Return the value if it is a list, and an empty list otherwise."""
    if isinstance(value, list):
        return value
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
    # The exact types come first because asking for an abstract one takes several times as long.
    if type(value) is dict or isinstance(value, Mapping):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if type(value) is list or isinstance(value, list | tuple):
        return [without_nulls(inner) for inner in value]
    return value


def defaulted(manifest: Fields) -> dict[str, Any]:
    """Copy a RayJob with nulls pruned and the defaults of the CRD applied, as the API server stores it."""
    return with_defaults(without_nulls(manifest))


def with_defaults(pruned: Fields) -> dict[str, Any]:
    """Apply the defaults of the CRD to a RayJob without nulls; parts without defaults are shared, not copied."""
    spec = pruned.get("spec", {})
    if not isinstance(spec, Mapping):
        return dict(pruned)
    spec = {**_SPEC_DEFAULTS, **spec}
    _replace(spec, ("deletionStrategy", "deletionRules"), lambda rule: _changed(rule, "condition", _CONDITION_DEFAULTS))
    _replace(spec, ("rayClusterSpec", "workerGroupSpecs"), lambda group: {**_WORKER_DEFAULTS, **group})
    return {**pruned, "spec": spec}


def _changed(fields: Fields, name: str, defaults: Fields) -> Fields:
    inner = fields.get(name)
    return {**fields, name: {**defaults, **inner}} if isinstance(inner, Mapping) else fields


def _replace(spec: dict[str, Any], path: tuple[str, str], change: Callable[[Fields], Fields]) -> None:
    """Change each object of the list at a path of two fields, copying what is on the way."""
    outer, inner = path
    owner = spec.get(outer)
    entries = owner.get(inner) if isinstance(owner, Mapping) else None
    if isinstance(owner, Mapping) and isinstance(entries, list):
        changed = [change(entry) if isinstance(entry, Mapping) else entry for entry in entries]
        spec[outer] = {**owner, inner: changed}
