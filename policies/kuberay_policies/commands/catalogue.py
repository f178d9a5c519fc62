"""`kuberay-policies list` and `kuberay-policies explain`: what there is, and what it means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kuberay_model.rules import UnknownRuleError, explain
from kuberay_model.sentences import listed
from kuberay_policies.catalogue import POLICIES, find
from kuberay_policies.commands.errors import CommandError
from kuberay_policies.documentation import page
from kuberay_policies.policy import Family, Policy, UnknownPolicyError


def listing(family: str | None, as_json: bool) -> str:
    """Return all policies, or those of a family, one a line or in JSON.

    Raises:
        CommandError: There is no such family.
    """
    families = [known.value for known in Family]
    if family is not None and family not in families:
        raise CommandError(f"There is no family {family!r}; there is {listed(families)}.")
    policies = [policy for policy in POLICIES.values() if family is None or policy.family.value == family]
    if as_json:
        return json.dumps([_fields(policy) for policy in policies], indent=2) + "\n"
    return "\n".join(_rows(policies)) + "\n"


def explanation(ids: Iterable[str]) -> str:
    """Return the pages on policies.

    Raises:
        CommandError: There is no such policy, and no such rule.
    """
    return "\n\n".join(_explained(id) for id in ids) + "\n"


def _explained(id: str) -> str:
    """Return the page on a policy, or on a rule of KubeRay that is only explained, or is another name of one."""
    try:
        return page(find(id))
    except UnknownPolicyError as error:
        try:
            rule = explain(id)
        except UnknownRuleError:
            raise CommandError(str(error)) from None
        return page(POLICIES[rule.id]) if rule.id in POLICIES else f"{rule.id}\n{rule.title}.\n\n{rule.note}"


def _rows(policies: list[Policy]) -> Iterator[str]:
    width = max((len(policy.name) for policy in policies), default=0)
    family = None
    for policy in policies:
        if policy.family is not family:
            if family is not None:
                yield ""
            family = policy.family
            yield f"{family.value}:"
        yield f"  {policy.id:<5} {policy.severity.value:<7} {policy.name:<{width}}  {policy.title}"


def _fields(policy: Policy) -> dict[str, object]:
    return {
        "id": policy.id,
        "name": policy.name,
        "title": policy.title,
        "family": policy.family.value,
        "severity": policy.severity.value,
        "kinds": sorted(policy.kinds),
        "stackWide": policy.stack_wide,
        "needsPulumi": policy.needs_options,
        "parameters": policy.parameters.model_json_schema().get("properties", {}),
    }
