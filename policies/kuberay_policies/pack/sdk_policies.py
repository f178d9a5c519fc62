"""The policies as Pulumi's SDK has them, for a pack of one's own or for the pack of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pulumi_policy
from pulumi_policy import EnforcementLevel

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import Deferred, Report, evaluate
from kuberay_policies.pack.resources import is_object, subject, unwanted
from kuberay_policies.pack.values import plain
from kuberay_policies.policy import Finding, Policy, Severity
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Options, Subject
from kuberay_policies.targets import Scope

LEVELS = {
    Severity.ERROR: EnforcementLevel.MANDATORY,
    Severity.WARNING: EnforcementLevel.ADVISORY,
    Severity.OFF: EnforcementLevel.DISABLED,
}
"""Enforcement level by severity."""

DEFERRED = "known-only-at-deployment"
"""Name of the policy under which the pack says what a preview cannot decide."""


def pack_name(policy: Policy) -> str:
    """Return the name of a policy in a pack: its id and its name, such as `p101-cleanup-required`."""
    prefix = f"{policy.id.lower()}-"
    return policy.name if policy.name.startswith(prefix) else f"{prefix}{policy.name}"


def is_stack_wide(policy: Policy) -> bool:
    """Tell whether a policy looks at all resources of a stack together."""
    return policy.stack_wide or policy.scope is Scope.WAIVER


def policies(settings: Settings, chosen: Iterable[Policy] | None = None) -> list[pulumi_policy.Policy]:
    """Return policies for a `pulumi_policy.PolicyPack` of one's own.

    Args:
        settings: Settings of the environment; they choose severities, parameters and waivers.
        chosen: The policies; None for all.
    """
    made: list[pulumi_policy.Policy] = []
    for policy in POLICIES.values() if chosen is None else chosen:
        if is_stack_wide(policy):
            made.append(
                pulumi_policy.StackValidationPolicy(
                    validate=_stack_check(policy, settings), **_common(policy, settings)
                )
            )
        else:
            made.append(
                pulumi_policy.ResourceValidationPolicy(validate=_check(policy, settings), **_common(policy, settings))
            )
    return made


def subject_of(resource: pulumi_policy.ResourceValidationArgs | pulumi_policy.PolicyResource) -> Subject | None:
    """Return the Kubernetes object of a resource, None if it is none."""
    if not is_object(resource.resource_type):
        return None
    properties = plain(resource.props, unwanted(resource.resource_type))
    return subject(resource.resource_type, resource.urn, properties, options_of(resource.opts))


def options_of(opts: pulumi_policy.PolicyResourceOptions) -> Options:
    """Return resource options; what the engine does not tell a pack stays unset."""
    return Options(
        protect=bool(opts.protect),
        delete_before_replace=opts.delete_before_replace,
        ignore_changes=tuple(opts.ignore_changes),
        parent=opts.parent or "",
    )


def sentence(finding: Finding) -> str:
    """Return a finding as a pack says it."""
    return f"{finding.path}: {finding.message}" if finding.path else finding.message


def deferred_sentence(deferred: Deferred) -> str:
    """Return what a preview cannot decide as a pack says it."""
    ids = [policy.id for policy in deferred.policies]
    shown = ", ".join(ids[:8]) + (f" and {len(ids) - 8} more" if len(ids) > 8 else "")
    return f"{deferred.path} is known only at deployment; {shown} cannot be decided before."


def _check(policy: Policy, settings: Settings) -> Callable[..., None]:
    def validate(args: pulumi_policy.ResourceValidationArgs, report: pulumi_policy.ReportViolation) -> None:
        found = subject_of(args)
        if found is not None:
            _tell(evaluate([found], settings, [policy]), report)

    return validate


def _stack_check(policy: Policy, settings: Settings) -> Callable[..., None]:
    def validate(args: pulumi_policy.StackValidationArgs, report: pulumi_policy.ReportViolation) -> None:
        found = [made for resource in args.resources if (made := subject_of(resource)) is not None]
        _tell(evaluate(found, settings, [policy]), report)

    return validate


def _tell(report: Report, violation: pulumi_policy.ReportViolation) -> None:
    for finding in report.findings:
        violation(sentence(finding), finding.source.urn)
    for deferred in report.deferred:
        violation(deferred_sentence(deferred), deferred.subject.source.urn)


def _common(policy: Policy, settings: Settings) -> dict[str, Any]:
    schema = policy.parameters.model_json_schema()
    properties = {name: _inlined(fields, schema) for name, fields in schema.get("properties", {}).items()}
    return {
        "name": pack_name(policy),
        "description": f"{policy.id} {policy.title}.",
        "enforcement_level": LEVELS[settings.severity(policy)],
        "config_schema": pulumi_policy.PolicyConfigSchema(properties) if properties else None,
        "display_name": policy.title,
        "remediation_steps": f"`kuberay-policies explain {policy.id}` says more.",
        "tags": [policy.family.value],
    }


def _inlined(fields: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in fields.items() if key not in ("title", "default")}
    if reference := kept.pop("$ref", None):
        kept = {**schema["$defs"][reference.rpartition("/")[2]], **kept}
        kept.pop("title", None)
    return kept
