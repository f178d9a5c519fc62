"""The policies of an environment as objects that an API server enforces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kuberay_model.rules import RULES
from kuberay_policies.catalogue import POLICIES
from kuberay_policies.policy import Policy, Severity
from kuberay_policies.settings import Settings, Waiver
from kuberay_policies.vap import rules as _rules  # noqa: F401 - registers the expressions
from kuberay_policies.vap.cel import NOTHING, literal, strings, under
from kuberay_policies.vap.objects import Action, Admission, Validation
from kuberay_policies.vap.registry import CRD_FIRST, EXPRESSIONS, LIMITS, RAY_KINDS, Rendering, reason

PLURALS = {"RayJob": "rayjobs", "RayCluster": "rayclusters", "RayService": "rayservices", "RayCronJob": "raycronjobs"}
MANAGED_BY = {"app.kubernetes.io/managed-by": "kuberay-policies"}


@dataclass(frozen=True)
class Coverage:
    """Whether a policy is exported.

    Attributes:
        policy: The policy.
        exported: Whether it is.
        remark: Why it is not, or what its expression cannot see; empty for nothing.
    """

    policy: Policy
    exported: bool
    remark: str


def coverage(policies: Iterable[Policy] | None = None) -> Iterator[Coverage]:
    """Yield for each policy whether it is exported; without policies for all."""
    for policy in POLICIES.values() if policies is None else policies:
        why_not = reason(policy)
        first = CRD_FIRST.get(policy.id)
        refused = f"the CRD refuses it first ({first})" if first else ""
        yield Coverage(policy, not why_not, why_not or LIMITS.get(policy.id, refused))


def admissions(
    settings: Settings,
    policies: Iterable[Policy] | None = None,
    *,
    name: str = "",
    namespaces: Mapping[str, str] | None = None,
) -> list[Admission]:
    """Return the policies of admission of an environment: one that denies, one that warns.

    Args:
        settings: Settings of the environment.
        policies: The policies to export as far as CEL can say them; None for all.
        name: Beginning of the names of the objects; empty for `kuberay-policies` and the environment.
        namespaces: Labels of the namespaces they hold for; None for all.
    """
    prefix = name or "-".join(filter(None, ("kuberay-policies", settings.environment)))
    candidates = tuple(POLICIES.values() if policies is None else policies)
    found = []
    for severity, action in ((Severity.ERROR, Action.DENY), (Severity.WARNING, Action.WARN)):
        chosen = [
            policy
            for policy in candidates
            if policy.id in EXPRESSIONS and settings.severity(policy) is severity and _holds(policy, settings)
        ]
        validations = [made for policy in chosen if (made := _validation(policy, settings)) is not None]
        if validations:
            found.append(
                Admission(
                    f"{prefix}-{action.value}",
                    sorted(PLURALS.values()),
                    action,
                    validations,
                    namespaces=namespaces or {},
                    labels=MANAGED_BY,
                )
            )
    return found


def objects(admissions_: Iterable[Admission]) -> list[dict[str, Any]]:
    """Return the manifests of policies of admission, each followed by its binding."""
    return [manifest for admission in admissions_ for manifest in (admission.policy, admission.binding)]


def _holds(policy: Policy, settings: Settings) -> bool:
    rule = RULES.get(policy.id)
    return rule is None or rule.holds_in(settings.version)


def _validation(policy: Policy, settings: Settings) -> Validation | None:
    findings = EXPRESSIONS[policy.id](Rendering(settings, policy))
    if findings == NOTHING:
        return None
    conditions = []
    if policy.kinds and not policy.kinds >= RAY_KINDS:
        conditions.append(f"variables.kind in {strings(sorted(policy.kinds & RAY_KINDS))}")
    conditions += [
        f"!{_TITLE}.matches({literal(_pattern(target))})"
        for waiver in _waivers(policy, settings)
        for target in waiver.targets
        if not target.startswith("urn:")
    ]
    return Validation(policy.id, policy.title, under(" && ".join(conditions), findings) if conditions else findings)


def _waivers(policy: Policy, settings: Settings) -> Iterator[Waiver]:
    return (waiver for waiver in settings.waivers if policy.id in waiver.policies and settings.today <= waiver.expires)


_TITLE = "(object.kind + ' ' + object.metadata.namespace + '/' + variables.name)"


def _pattern(target: str) -> str:
    """Return the regular expression of a target of a waiver, in which `*` and `?` stand for any text."""
    escaped = re.escape(target).replace(r"\*", ".*").replace(r"\?", ".").replace(r"\ ", " ").replace(r"\-", "-")
    return f"^{escaped}$"
