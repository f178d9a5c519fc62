"""The rules of KubeRay as policies: J (RayJob), C (RayCluster), X (CRD) and U (accepted, but broken).

A RayCluster, a RayService and a RayCronJob hold a spec of a RayCluster or of a RayJob, to which the operator
applies the same rules; the object is turned into such a RayJob, and paths are turned back.
"""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules import RULES, Layer, Rule
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
_ABOUT_SEVERAL_FIELDS = frozenset({"X7", "X8", "X9", "X10", "X11"})
_SEVERITIES = {"U8": Severity.ERROR}
"""Where a policy is stricter than the rule: a RayCluster that nobody deletes costs money until somebody looks."""


def _kinds(rule: Rule) -> frozenset[str]:
    if rule.id in _NOT_IN_TEMPLATES:
        return frozenset({"RayJob"})
    about_clusters = (rule.id[0] in "CX" and rule.id not in _ABOUT_JOBS) or rule.id in _ABOUT_CLUSTERS
    return _ALL_KINDS if about_clusters else _JOB_KINDS


def _is_local(rule: Rule) -> bool:
    """Tell whether the rule looks at each field by itself, so that it can go on without unknown values."""
    return rule.id[0] == "X" and rule.id not in _ABOUT_SEVERAL_FIELDS


def _check(rule: Rule) -> Check:
    assert rule.check is not None
    check, local = rule.check, _is_local(rule)

    def asked(view: RuleView, _: Parameters, context: Context) -> Iterator[Problem | NotYetKnown]:
        version = context.settings.version
        if not rule.holds_in(version):
            return
        subject = view.subject
        unknown = subject.unknown_paths if local else ()
        job = view.job(version, context.settings.gates, known_only=bool(unknown))
        for problem in check(job):
            path = view.path(problem.path)
            if path is not None and not any(place.startswith(path) for place in unknown):
                yield Problem(path, problem.wrong, problem.remedy)
        for place in unknown:
            yield NotYetKnown(subject, place)

    return asked


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
