"""ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding objects from expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kuberay_policies.vap.cel import literal
from kuberay_policies.vap.variables import ITEMS, VARIABLES, needed

API_VERSION = "admissionregistration.k8s.io/v1"
MESSAGE_LENGTH = 5000
"""Longest message; the API server puts the static one in the place of a longer one than 5 KiB."""


class Action(Enum):
    """What a binding does about a finding."""

    DENY = "deny"
    WARN = "warn"

    @property
    def validation_actions(self) -> list[str]:
        """`validationActions` of the binding; a refusal is in the audit log by itself."""
        return ["Deny"] if self is Action.DENY else ["Warn", "Audit"]


@dataclass(frozen=True)
class Validation:
    """A rule in CEL.

    Attributes:
        id: Id of the rule.
        title: What must hold.
        findings: CEL of type list(string).
    """

    id: str
    title: str
    findings: str


@dataclass(frozen=True)
class Admission:
    """A policy with its binding.

    Attributes:
        name: Name of both objects.
        resources: Plural names of resources of ray.io/v1.
        action: What is done about a finding.
        validations: The rules, the most telling first.
        variables: Variables that the rules may use.
        namespaces: Label selector of the namespaces it holds for; empty for all.
        labels: Labels of both objects.
    """

    name: str
    resources: Sequence[str]
    action: Action
    validations: Sequence[Validation]
    variables: Mapping[str, str] = field(default_factory=lambda: VARIABLES)
    namespaces: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def policy(self) -> dict[str, Any]:
        """The ValidatingAdmissionPolicy."""
        return {
            "apiVersion": API_VERSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": self._metadata(),
            "spec": {
                "failurePolicy": "Fail" if self.action is Action.DENY else "Ignore",
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": ["ray.io"],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE", "UPDATE"],
                            "resources": list(self.resources),
                        }
                    ]
                },
                "matchConditions": [
                    {"name": "is-not-being-deleted", "expression": "!has(object.metadata.deletionTimestamp)"},
                    {"name": "is-not-made-by-kuberay", "expression": _NOT_OWNED},
                    {"name": "is-new-or-changed", "expression": _new_or_changed()},
                ],
                "variables": self._variables(),
                "validations": [self._too_long(), *(self._validation(rule) for rule in self.validations)],
            },
        }

    @property
    def binding(self) -> dict[str, Any]:
        """The ValidatingAdmissionPolicyBinding."""
        spec: dict[str, Any] = {"policyName": self.name, "validationActions": self.action.validation_actions}
        if self.namespaces:
            spec["matchResources"] = {"namespaceSelector": {"matchLabels": dict(self.namespaces)}}
        return {
            "apiVersion": API_VERSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": self._metadata(),
            "spec": spec,
        }

    def _metadata(self) -> dict[str, Any]:
        return {"name": self.name, **({"labels": dict(self.labels)} if self.labels else {})}

    def _variables(self) -> list[dict[str, str]]:
        rules = {rule.id: rule.findings for rule in self.validations}
        shared = needed((*rules.values(), _LONG), self.variables)
        found = {"findings": " + ".join(f"variables.{name}" for name in rules), "message": _MESSAGE}
        rules = {name: _named(name, findings) for name, findings in rules.items()}
        return [{"name": name, "expression": expression} for name, expression in {**shared, **rules, **found}.items()]

    def _validation(self, rule: Validation) -> dict[str, str]:
        return {
            "expression": f"size(variables.{rule.id}) == 0",
            "messageExpression": (
                "variables.message" if self.action is Action.DENY else _one_line(f"variables.{rule.id}.join(' ')")
            ),
            "message": f"{rule.id}: {rule.title}. `kuberay-policies explain {rule.id}` says more.",
        }

    def _too_long(self) -> dict[str, str]:
        return {
            "expression": f"!({_LONG})",
            "message": f"A list has more than {ITEMS} worker groups, deletion rules or volumes, and cannot be checked.",
        }


_LONG = f"size(variables.workerSpecs) > {ITEMS} || size(variables.ruleSpecs) > {ITEMS}"


def _named(name: str, findings: str) -> str:
    return f"({findings}).map(f, {literal(name + ' ')} + f)"


def _one_line(text: str) -> str:
    return f"{text}.replace('\\n', ' ')"


_ALL = "variables.findings.join(' ')"
_MESSAGE = _one_line(f"(size({_ALL}) > {MESSAGE_LENGTH} ? {_ALL}.substring(0, {MESSAGE_LENGTH}) : {_ALL})")


_NOT_OWNED = "!object.metadata.?ownerReferences.orValue([]).exists(o, o.apiVersion.startsWith('ray.io/'))"
"""The RayCluster of a RayJob was judged with the RayJob; refusing it then would only hide the RayJob's problem."""


def _new_or_changed() -> str:
    parts = [
        f"object.metadata.?{name}.orValue({{}}) != oldObject.metadata.?{name}.orValue({{}})"
        for name in ("labels", "annotations")
    ]
    return " || ".join(["oldObject == null", "object.spec != oldObject.spec", *parts])
