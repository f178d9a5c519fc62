"""Syntax of Kubernetes names and labels, and of the version strings that the operator compares.

Source: `k8s.io/apimachinery/pkg/util/validation` and `k8s.io/apimachinery/pkg/util/version` (`ParseGeneric`).
"""

from __future__ import annotations

import re

_DNS1035_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_DNS1123_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_GENERIC_VERSION = re.compile(r"[\t\n\f\r ]*v?([0-9]+(?:\.[0-9]+)*)([^\n]*)", re.ASCII)
_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253
_UINT64_MAX = 2**64 - 1


def is_dns1035_label(name: str) -> bool:
    """Lowercase letters, digits and `-`, from a letter to a letter or digit, at most 63 characters."""
    return len(name) <= _LABEL_LENGTH and _DNS1035_LABEL.fullmatch(name) is not None


def is_dns1123_label(name: str) -> bool:
    """Lowercase letters, digits and `-`, not beginning or ending in `-`, at most 63 characters."""
    return len(name) <= _LABEL_LENGTH and _DNS1123_LABEL.fullmatch(name) is not None


def is_dns1123_subdomain(name: str) -> bool:
    """DNS-1123 labels with dots between them, at most 253 characters."""
    return len(name) <= _SUBDOMAIN_LENGTH and all(_DNS1123_LABEL.fullmatch(part) for part in name.split("."))


def is_label_key(key: str) -> bool:
    """A name of at most 63 characters with an optional DNS subdomain and `/` before it."""
    prefix, slash, name = key.rpartition("/")
    if slash and not is_dns1123_subdomain(prefix):
        return False
    return 0 < len(name) <= _LABEL_LENGTH and _QUALIFIED.fullmatch(name) is not None


def is_label_value(value: str) -> bool:
    """Empty, or letters, digits, `-`, `_` and `.`, bounded by letters or digits, at most 63 characters."""
    return not value or (len(value) <= _LABEL_LENGTH and _QUALIFIED.fullmatch(value) is not None)


def generic_version(text: str) -> tuple[int, ...] | None:
    """Read a version as the operator does: two or more numbers, then anything; None if it cannot be read."""
    match = _GENERIC_VERSION.fullmatch(text)
    if match is None:
        return None
    numbers = match.group(1).split(".")
    if len(numbers) < 2 or (numbers[0].startswith("0") and numbers[0] != "0"):
        return None
    significant = [number.lstrip("0") or "0" for number in numbers]
    if any(len(number) > len(str(_UINT64_MAX)) or int(number) > _UINT64_MAX for number in significant):
        return None
    return tuple(int(number) for number in significant)


def at_least(version: tuple[int, ...], minimum: tuple[int, ...]) -> bool:
    """Compare versions component by component, a missing component being 0."""
    width = max(len(version), len(minimum))
    return _padded(version, width) >= _padded(minimum, width)


def _padded(version: tuple[int, ...], width: int) -> tuple[int, ...]:
    return version + (0,) * (width - len(version))
