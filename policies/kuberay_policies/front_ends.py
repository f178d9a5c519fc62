"""How many policies each front end has."""

from __future__ import annotations

from collections.abc import Mapping

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.vap.export import coverage

ONLY_IN_PROGRAMS = frozenset({"P521"})
"""Policies on resource options that neither the engine tells a pack nor a state keeps."""


def counts() -> Mapping[str, int]:
    """Return the number of policies by front end, in the order in which an object meets them."""
    policies = tuple(POLICIES.values())
    told = [policy for policy in policies if policy.id not in ONLY_IN_PROGRAMS]
    return {
        "manifests (check)": sum(not policy.needs_options for policy in policies),
        "program (preview)": len(policies),
        "policy pack": len(told),
        "state (check)": len(told),
        "admission (export vap)": sum(entry.exported for entry in coverage(policies)),
    }


def table() -> str:
    """Return the counts as text, a line for each front end."""
    rows = [f"{name:<24} {number:>4}" for name, number in counts().items()]
    return "\n".join([f"{'policies':<24} {len(POLICIES):>4}", *rows]) + "\n"
