"""Values that are known only while Pulumi runs."""

import inspect
from collections.abc import Mapping

import pulumi


def has_outputs(value: object) -> bool:
    """Tell whether a value holds something that is known only while Pulumi runs."""
    if isinstance(value, Mapping):
        return any(has_outputs(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(has_outputs(item) for item in value)
    return isinstance(value, pulumi.Output) or inspect.isawaitable(value)
