"""From typed arguments to the fields of a Kubernetes object or of a chart's values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from pulumi_kuberay.merging import deep_merge

FIELD = "field"
"""Key of a dataclass field's metadata: the name of the field in Kubernetes, or None to leave it out."""

_WORD_START = re.compile(r"_([a-z0-9])")


def camel_case(name: str) -> str:
    """Return a Python name as Kubernetes writes it: ``node_labels`` becomes ``nodeLabels``."""
    return _WORD_START.sub(lambda match: match.group(1).upper(), name)


def rendered(value: Any) -> Any:
    """Return typed arguments as plain dictionaries and lists.

    A dataclass becomes a dictionary in camel case, without what was left unset. Enums become their values,
    whole numbers lose a ``.0`` that a host of other languages gave them. Keys of mappings and outputs stay as
    they are.

    Args:
        value: A dataclass of arguments, or anything inside one.
    """
    if is_dataclass(value) and not isinstance(value, type):
        known = {
            field.metadata.get(FIELD, camel_case(field.name)): rendered(getattr(value, field.name))
            for field in fields(value)
        }
        return {key: item for key, item in known.items() if key is not None and item is not None}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: rendered(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [rendered(item) for item in value]
    return value


def placed(arguments: Any) -> dict[str, Any]:
    """Return a dataclass of arguments as nested values: a field named ``a.b`` becomes ``{"a": {"b": …}}``."""
    values: dict[str, Any] = {}
    for place, value in rendered(arguments).items():
        values = deep_merge(values, at(place, value))
    return values


def at(place: str, value: Any) -> dict[str, Any]:
    """Return `value` nested at a place such as ``a.b``."""
    first, _, rest = place.partition(".")
    return {first: at(rest, value) if rest else value}


def found(values: Mapping[str, Any], place: str) -> Any:
    """Return what is at a place such as ``a.b``, or None if nothing is."""
    value: Any = values
    for key in place.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
