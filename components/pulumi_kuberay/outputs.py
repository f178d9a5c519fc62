"""Values that are known only while Pulumi runs."""

import inspect
from collections.abc import Mapping
from typing import Any

import pulumi


def has_outputs(value: object) -> bool:
    """Tell whether a value holds something that is known only while Pulumi runs."""
    if isinstance(value, Mapping):
        return any(has_outputs(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(has_outputs(item) for item in value)
    return isinstance(value, pulumi.Output) or inspect.isawaitable(value)


def unknown() -> pulumi.Output[Any]:
    """Return an output whose value is not known, as in a preview."""
    return pulumi.Output(set(), _resolved(None), _resolved(False))


async def _resolved(value: Any) -> Any:
    return value
