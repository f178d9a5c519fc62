"""Which policies can be said in CEL, and why others cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kuberay_model.versions import Version
from kuberay_policies.policy import Policy
from kuberay_policies.settings import Settings


@dataclass(frozen=True)
class Rendering:
    """What an expression is made for.

    Attributes:
        settings: Settings of the environment.
        policy: The policy.
    """

    settings: Settings
    policy: Policy

    @property
    def version(self) -> Version:
        """Version of KubeRay."""
        return self.settings.version

    @property
    def parameters(self) -> Any:
        """Parameters of the policy."""
        return self.settings.parameters_of(self.policy)

    def gate(self, name: str) -> bool:
        """Tell whether the operator has the feature gate and it is on."""
        return self.settings.gates.get(name, False)


Expression = Callable[[Rendering], str]

EXPRESSIONS: dict[str, Expression] = {}
"""Id of a policy to what makes the CEL list of its findings."""

LIMITS: dict[str, str] = {}
"""Id of an exported policy to what its expression cannot see."""

REASONS: dict[str, str] = {
    "X0": "It is about what the checker knows: the API server always has a schema.",
    "J31": "CEL cannot parse YAML.",
    "X12": "The API server has dropped unknown fields before policies of admission see the object.",
    "X16": "CEL does not know how many bits the operator reads a field with.",
    "P504": "The API server has made a name of generateName before policies of admission see the object.",
    "P505": "The API server answers for the kinds and versions that its CRDs serve.",
    "P506": "It is about the operator, and the same for every object of the kind.",
}
"""Id of a policy to why it is not exported, for those whose reason does not follow from what they look at."""

CRD_FIRST: dict[str, str] = {
    "J8": "X7",
    "J9": "X8",
    "J10": "X10 and X11",
    "J11": "X4",
    "J33": "X4",
}
"""Id of an exported policy to the rules of the CRD that refuse such an object before."""

CRD_RULES = frozenset(f"X{number}" for number in (*range(1, 12), *range(13, 16)))
"""Rules of the CRD, which the API server asks before policies of admission."""


def expression(id: str, limit: str = "") -> Callable[[Expression], Expression]:
    """Register the CEL of a policy.

    Args:
        id: Id of the policy.
        limit: What the expression cannot see; empty if it finds all that the policy finds.
    """

    def register(make: Expression) -> Expression:
        if id in EXPRESSIONS:
            raise ValueError(f"The policy {id} has two expressions.")
        EXPRESSIONS[id] = make
        if limit:
            LIMITS[id] = limit
        return make

    return register


def reason(policy: Policy) -> str:
    """Say why a policy is not exported; empty if it is."""
    if policy.id in EXPRESSIONS:
        return ""
    if policy.id in REASONS:
        return REASONS[policy.id]
    if policy.id in CRD_RULES:
        return "The CRD has this rule, and the API server asks it first."
    if policy.needs_options:
        return "It looks at Pulumi's resource options, which the cluster does not know."
    if policy.stack_wide:
        return "It looks at several objects, and admission sees one at a time."
    if policy.kinds and not policy.kinds & RAY_KINDS:
        return f"It looks at {' and '.join(sorted(policy.kinds))} objects; only Ray objects are exported."
    return "It has no CEL expression yet; the checker, the pack and the state file have it."


RAY_KINDS = frozenset({"RayJob", "RayCluster", "RayService", "RayCronJob"})
