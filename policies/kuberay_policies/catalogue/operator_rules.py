"""The rules of KubeRay as policies: J (RayJob), C (RayCluster), X (CRD) and U (accepted, but broken).

A RayCluster, a RayService and a RayCronJob hold a spec of a RayCluster or of a RayJob, to which the operator
applies the same rules; the object is turned into such a RayJob, and paths are turned back.
"""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules import RULES, Layer, Rule, schema
from kuberay_model.rules import Severity as RuleSeverity
from kuberay_policies.guarding import NotYetKnown
from kuberay_policies.policy import Check, Family, Parameters, Policy, Problem, Severity, add
from kuberay_policies.stack import Context
from kuberay_policies.targets import RuleView, Scope

_ALL_KINDS = frozenset({"RayJob", "RayCronJob", "RayCluster", "RayService"})
_JOB_KINDS = frozenset({"RayJob", "RayCronJob"})
_NOT_IN_TEMPLATES = frozenset({"J1", "J2", "J35", "C24"})
"""Rules on names and on status: those of the RayJob that a RayCronJob makes are not in the manifest."""
_ABOUT_CLUSTERS = frozenset({"U13", "U16", "U17"})
"""Rules besides C and X that are about a RayCluster."""
_ABOUT_JOBS = frozenset({"C24", "C25"})
"""C rules that are about a RayCluster made by a RayJob."""
_SEVERITIES = {"U8": Severity.ERROR}
"""Where a policy is stricter than the rule: a RayCluster that nobody deletes costs money until somebody looks."""


def _kinds(rule: Rule) -> frozenset[str]:
    if rule.id in _NOT_IN_TEMPLATES:
        return frozenset({"RayJob"})
    if _is_structural(rule):
        return _ALL_KINDS
    about_clusters = (rule.id[0] == "C" and rule.id not in _ABOUT_JOBS) or rule.id in _ABOUT_CLUSTERS
    return _ALL_KINDS if about_clusters else _JOB_KINDS


def _is_structural(rule: Rule) -> bool:
    """Tell whether the rule compares the object with the schema, each field by itself."""
    return rule.check is not None and rule.check.__module__ == schema.__name__


def _check(rule: Rule) -> Check:
    assert rule.check is not None
    check = rule.check

    def operators(view: RuleView, _: Parameters, context: Context) -> Iterator[Problem | NotYetKnown]:
        settings = context.settings
        if rule.holds_in(settings.version):
            for problem in check(view.job(settings.version, settings.gates)):
                path = view.path(problem.path)
                if path is not None:
                    yield Problem(path, problem.wrong, problem.remedy)

    def structural(view: RuleView, _: Parameters, context: Context) -> Iterator[Problem | NotYetKnown]:
        settings = context.settings
        if not rule.holds_in(settings.version):
            return
        unknown = view.subject.unknown_paths
        for problem in check(view.structure(settings.version, settings.gates, settings.schema)):
            if not any(place.startswith(problem.path) for place in unknown):
                yield Problem(problem.path, problem.wrong, problem.remedy)
        for place in unknown:
            yield NotYetKnown(view.subject, place)

    return structural if _is_structural(rule) else operators


def _why(rule: Rule) -> str:
    reaction = {
        Layer.API_SERVER: "The API server refuses the object.",
        Layer.OPERATOR: "The operator writes jobDeploymentStatus ValidationFailed, which a later edit does not cure.",
        Layer.RAY_CLUSTER: "The RayJob is accepted, but the RayCluster made from it is refused, so that it hangs.",
        Layer.NOBODY: "It is accepted, and does not do what its author expects.",
    }[rule.layer]
    return f"{reaction} {rule.note}".strip()


for _rule in RULES.values():
    if _rule.check is not None:
        add(
            Policy(
                id=_rule.id,
                name=f"{_rule.id.lower()}-{_rule.check.__name__.strip('_').replace('_', '-')}",
                title=_rule.title,
                family=Family.OPERATOR,
                severity=_SEVERITIES.get(
                    _rule.id, Severity.ERROR if _rule.severity is RuleSeverity.ERROR else Severity.WARNING
                ),
                scope=Scope.RULES,
                why=_why(_rule),
                check=_check(_rule),
                kinds=_kinds(_rule),
            )
        )
