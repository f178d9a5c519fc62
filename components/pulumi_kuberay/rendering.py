"""From typed arguments to the fields of a Kubernetes object or of a chart's values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

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
