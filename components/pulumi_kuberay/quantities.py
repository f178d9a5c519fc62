"""Quantities of Kubernetes: ``500m``, ``40``, ``200Gi``."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
_DECIMAL = {suffix: Decimal(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", "k", *"MGTPE"), -3)}
_BINARY = {f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", 1)}
_FACTORS = {**_DECIMAL, **_BINARY}


def quantity(value: Any) -> Decimal | None:
    """Return the amount that a quantity stands for, or None if it is no quantity.

    Args:
        value: Text, or a number as YAML gives it.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, suffix = Decimal(match.group(1)), match.group(2) or ""
    return number * _FACTORS[suffix] if suffix in _FACTORS else number.scaleb(int(suffix[1:]))


def amount_problems(what: str, value: Any) -> Iterator[str]:
    """Say why a value is no quantity of zero or more.

    Args:
        what: How the sentence calls the value.
        value: The quantity; an output, which has no value yet, is not looked at.
    """
    if not isinstance(value, str | int | float):
        return
    amount = quantity(value)
    if amount is None:
        yield f"{what} must be a quantity such as 40, 500m or 200Gi, but it is {value!r}."
    elif amount < 0:
        yield f"{what} must not be negative, but it is {value!r}."
