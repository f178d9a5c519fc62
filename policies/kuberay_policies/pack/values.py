"""Plain values from those that Pulumi hands to a policy pack."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pulumi_policy import proxy

from kuberay_policies.subjects import UNKNOWN
from kuberay_policies.wire import OUTPUT, SECRET, SIGNATURE

UNKNOWN_VALUES = frozenset(
    {
        proxy.UNKNOWN_BOOLEAN_VALUE,
        proxy.UNKNOWN_NUMBER_VALUE,
        proxy.UNKNOWN_STRING_VALUE,
        proxy.UNKNOWN_ARRAY_VALUE,
        proxy.UNKNOWN_ASSET_VALUE,
        proxy.UNKNOWN_ARCHIVE_VALUE,
        proxy.UNKNOWN_OBJECT_VALUE,
    }
)
"""What the engine sends in the place of a value that is known only at deployment."""


def plain(value: Any, without: Collection[str] = ()) -> Any:
    """Copy a value: proxies become mappings and lists, whole floats integers, secrets what they hold.

    Args:
        value: A property as a policy gets it, or as the engine sends it. Values that are known only at deployment
            become `UNKNOWN`.
        without: Keys that are left out wherever they are.
    """
    if isinstance(value, str):
        return UNKNOWN if value in UNKNOWN_VALUES else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return _mapping(value, without)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_item(value, index, without) for index in range(len(value))]
    return value


def decoded(value: Any, without: Collection[str] = ()) -> Any:
    """Return a protobuf `Value` as JSON has it, keys that are not wanted left out before they cost time."""
    match value.WhichOneof("kind"):
        case "struct_value":
            return {
                key: decoded(inner, without) for key, inner in value.struct_value.fields.items() if key not in without
            }
        case "list_value":
            return [decoded(inner, without) for inner in value.list_value.values]
        case "number_value" | "string_value" | "bool_value" as kind:
            return getattr(value, kind)
        case _:
            return None


def _mapping(value: Mapping[str, Any], without: Collection[str]) -> Any:
    if SIGNATURE in value:
        if value[SIGNATURE] == SECRET:
            return _item(value, "value", without)
        if value[SIGNATURE] == OUTPUT:
            return _item(value, "value", without) if "value" in value else UNKNOWN
    return {key: _item(value, key, without) for key in value if key not in without}


def _item(container: Any, key: Any, without: Collection[str]) -> Any:
    try:
        return plain(container[key], without)
    except proxy.UnknownValueError:
        return UNKNOWN
