"""Deep merge: the escape hatches that typed arguments leave open."""

from collections.abc import Mapping
from typing import Any


def deep_merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `override` laid over it.

    Mappings are merged key by key. Everything else, lists included, is replaced as a whole, which is what
    Helm does with values. A key whose override is ``None`` is removed.

    Args:
        base: What the typed arguments came to.
        override: What the user wants on top; it always wins.

    Returns:
        A new dictionary; neither argument is changed.
    """
    merged = dict(base)
    for key, value in override.items():
        below = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            merged[key] = deep_merge(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` without the keys that were left unset."""
    return {key: value for key, value in values.items() if value is not None}
