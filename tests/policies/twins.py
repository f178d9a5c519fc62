"""For every policy a stack of objects that breaks it, and one, near to it, that keeps it.

The table is shared: each front end must give the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import resolve
from kuberay_policies.subjects import Subject
from tests.model.rayjobs import good, spec
from tests.model.test_rayjob_rules import CASES


@dataclass(frozen=True)
class Twins:
    """A policy, a stack that breaks it, and one that keeps it.

    Attributes:
        policy: Id of the policy.
        bad: Objects of which exactly one breaks the policy; several policies may be broken.
        path: Where the policy is broken.
        good: Objects that keep it; empty if `bad` has no twin of its own.
        settings: Content of a settings file.
        name: What is special about it.
    """

    policy: str
    bad: tuple[Subject, ...]
    path: str
    good: tuple[Subject, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def resolved(self) -> Settings:
        """The settings."""
        return resolve(self.settings)

    def __str__(self) -> str:
        return f"{self.policy}-{self.name or self.path}"


def stack(*manifests: Any) -> tuple[Subject, ...]:
    """Objects from plain manifests, or subjects as they are."""
    return tuple(given if isinstance(given, Subject) else Subject(given) for given in manifests)


OPERATOR_TWINS = [
    Twins(
        case.rule,
        stack(good(*case.bad)),
        case.path,
        stack(good(*case.fine)),
        {"kuberayVersion": case.version, "featureGates": case.gates},
    )
    for case in CASES
]

LIFECYCLE_TWINS = [
    Twins(
        "P101",
        stack(good(spec(shutdownAfterJobFinishes=False))),
        "spec.shutdownAfterJobFinishes",
        stack(good()),
    ),
]

TWINS: list[Twins] = [
    *LIFECYCLE_TWINS,
    *OPERATOR_TWINS,
]
