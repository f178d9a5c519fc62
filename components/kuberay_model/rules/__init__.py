"""Every rule by which a RayJob is refused, and inputs that nothing refuses although they break.

`validate` returns all findings of a RayJob, `refusal` the one that the API server or the operator reports.
Rules are pure functions over a manifest; no cluster is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

# Importing a topic registers its rules; `RULES` keeps this order.
from kuberay_model.rules import (
    auth,
    autoscaling,
    cleanup,
    crd,
    deadlines,
    gcs,
    groups,
    history,
    isolation,
    lifecycle_traps,
    metadata,
    scheduling,
    schema,
    submission,
    submission_traps,
)
from kuberay_model.rules.job import Job
from kuberay_model.rules.order import position
from kuberay_model.rules.registry import (
    RULES,
    Finding,
    Layer,
    Problem,
    Rule,
    Severity,
    UnknownRuleError,
    explain,
)
from kuberay_model.rules.values import defaulted, with_defaults, without_nulls
from kuberay_model.schemas import Schema
from kuberay_model.versions import DEFAULT, Version, supported
from kuberay_model.versions import gates as all_gates

__all__ = [
    "RULES",
    "TOPICS",
    "Finding",
    "Layer",
    "Rule",
    "Severity",
    "UnknownRuleError",
    "defaulted",
    "explain",
    "refusal",
    "validate",
    "validate_structure",
]

TOPICS = (
    metadata,
    cleanup,
    scheduling,
    submission,
    groups,
    autoscaling,
    gcs,
    history,
    auth,
    isolation,
    deadlines,
    schema,
    crd,
    submission_traps,
    lifecycle_traps,
)
"""The modules that hold rules."""

_NO_GATES: Mapping[str, bool] = MappingProxyType({})
_STRUCTURAL = tuple(
    rule for rule in RULES.values() if rule.check is not None and rule.check.__module__ == schema.__name__
)


def validate(
    manifest: Mapping[str, Any],
    *,
    version: Version | str = DEFAULT,
    gates: Mapping[str, bool] = _NO_GATES,
    schema: Schema | None = None,
) -> list[Finding]:
    """Return every finding of a RayJob.

    Args:
        manifest: A RayJob as loaded from YAML or JSON. Fields of the CRD that have a default may be left out.
        version: Version of the operator that is to run it. Default 1.6.2.
        gates: Feature gates of the operator that differ from the defaults of that version.
        schema: The schema of the CRDs in the cluster, as `kuberay_model.schemas` makes it. Default: the one of the
            version; if none comes with this package, the finding X0 says that fields are not compared.

    Returns:
        First what the API server refuses, then what the operator refuses in the operator's own order, then
        what the RayCluster controller refuses, then what nobody refuses.

    Raises:
        UnsupportedVersionError: The version is not one of `versions.SUPPORTED`.
        UnknownGateError: The version has no such feature gate.
    """
    return _findings(RULES.values(), _job(manifest, version, gates, schema))


def validate_structure(
    manifest: Mapping[str, Any], *, version: Version | str = DEFAULT, schema: Schema | None = None
) -> list[Finding]:
    """Return what an object of any kind of KubeRay has that is not in the schema of its CRD.

    The kind is that of the manifest. The arguments and exceptions are those of `validate`.
    """
    return _findings(_STRUCTURAL, _job(manifest, version, _NO_GATES, schema))


def refusal(
    manifest: Mapping[str, Any],
    *,
    version: Version | str = DEFAULT,
    gates: Mapping[str, bool] = _NO_GATES,
    schema: Schema | None = None,
) -> Finding | None:
    """Return the finding by which the API server or the operator refuses a RayJob, None if it is accepted.

    The arguments and exceptions are those of `validate`.
    """
    first = next(iter(validate(manifest, version=version, gates=gates, schema=schema)), None)
    return first if first is not None and first.layer.refuses else None


def _job(manifest: Mapping[str, Any], version: Version | str, gates: Mapping[str, bool], schema: Schema | None) -> Job:
    release = supported(version)
    pruned = without_nulls(manifest)
    return Job(
        manifest=pruned,
        stored=with_defaults(pruned),
        version=release,
        gates={gate.name: gate.enabled for gate in all_gates(release, gates)},
        given_schema=schema,
    )


def _findings(rules: Iterable[Rule], job: Job) -> list[Finding]:
    found = [
        (_key(rule, problem), Finding(rule, problem.path, problem.wrong, problem.remedy))
        for rule in rules
        if rule.check is not None and rule.holds_in(job.version)
        for problem in rule.check(job)
    ]
    return [finding for _, finding in sorted(found, key=lambda pair: pair[0])]


def _key(rule: Rule, problem: Problem) -> tuple[int, tuple[int, int, int]]:
    if rule.layer is not Layer.OPERATOR:
        return (rule.layer, (0, 0, 0))
    return (rule.layer, position(problem.place or rule.id, problem.item))
