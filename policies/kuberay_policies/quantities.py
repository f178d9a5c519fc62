"""Amounts of resources as Kubernetes writes them: `500m`, `1.5`, `8Gi`, `2e3`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?")
_FACTORS = {
    **{suffix: Fraction(1, 1000**power) for power, suffix in enumerate("mun", 1)},
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)},
}

Amounts = dict[str, Fraction]
"""Amount by resource name; CPUs in cores, memory in bytes, anything else in pieces."""


def quantity(value: Any) -> Fraction | None:
    """Return an amount as a number, None if it is no amount.

    Args:
        value: Text or a number, as a manifest has it.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    match = _QUANTITY.fullmatch(str(value).strip())
    if match is None:
        return None
    digits, exponent, suffix = match.groups()
    if exponent and abs(int(exponent[1:])) > 30:
        return None
    return Fraction(f"{digits}{exponent or ''}") * _FACTORS.get(suffix, Fraction(1))


def amounts(values: Mapping[str, Any]) -> Amounts:
    """Return amounts by resource name, those that are no amounts left out."""
    found = {name: quantity(value) for name, value in values.items()}
    return {name: amount for name, amount in found.items() if amount is not None}


def total(parts: Iterable[Amounts]) -> Amounts:
    """Add amounts up by resource name."""
    sums: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            sums[name] = sums.get(name, Fraction(0)) + amount
    return sums


def shown(name: str, amount: Fraction) -> str:
    """Return an amount as people write it: memory in Gi, Mi or bytes, CPUs in cores."""
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        for suffix, factor in (("Gi", 1024**3), ("Mi", 1024**2)):
            if amount >= factor:
                return f"{float(round(amount / factor, 2)):g}{suffix}"
    return f"{float(round(amount, 3)):g}"


def is_device(name: str) -> bool:
    """Tell whether a resource is a device such as a GPU or a TPU: an extended resource, always whole pieces."""
    return "/" in name and not name.startswith(("kubernetes.io/", "requests.", "limits."))
