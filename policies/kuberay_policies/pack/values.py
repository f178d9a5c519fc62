"""Plain values from those that Pulumi hands to a policy pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_policy import proxy

from kuberay_policies.subjects import UNKNOWN

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

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


def plain(value: Any) -> Any:
    """Copy a value: proxies become mappings and lists, whole floats integers, secrets what they hold.

    Args:
        value: A property as a policy gets it, or as the engine sends it. Values that are known only at deployment
            become `UNKNOWN`.
    """
    if isinstance(value, str):
        return UNKNOWN if value in UNKNOWN_VALUES else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_item(value, index) for index in range(len(value))]
    return value


def _mapping(value: Mapping[str, Any]) -> Any:
    if _SIGNATURE in value:
        if value[_SIGNATURE] == _SECRET:
            return plain(_item(value, "value"))
        if value[_SIGNATURE] == _OUTPUT:
            return plain(_item(value, "value")) if "value" in value else UNKNOWN
    return {key: _item(value, key) for key in value}


def _item(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except proxy.UnknownValueError:
        return UNKNOWN
