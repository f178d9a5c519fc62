"""CEL of the rules on what is deleted after a RayJob has finished."""

from __future__ import annotations

from kuberay_model.rules.cleanup import GATE, STRATEGY
from kuberay_policies.vap.cel import NOTHING, each, finding, together, under, when
from kuberay_policies.vap.registry import Rendering, expression
from kuberay_policies.vap.variables import RULES_PATH

_RULES = "variables.rules"
_LEGACY = "variables.legacyPolicies"


@expression("J4")
def _ttl_negative(_: Rendering) -> str:
    return when(
        "variables.ttl < 0",
        finding(
            "spec.ttlSecondsAfterFinished",
            "ttlSecondsAfterFinished is {variables.ttl}, and it may not be negative.",
            "Use 0 for an immediate shutdown, or a number of seconds.",
        ),
    )


@expression("J5")
def _ttl_without_shutdown(_: Rendering) -> str:
    return when(
        "variables.ttl > 0 && !variables.shutdown",
        finding(
            "spec.ttlSecondsAfterFinished",
            "ttlSecondsAfterFinished is {variables.ttl}, but shutdownAfterJobFinishes is false.",
            "Set shutdownAfterJobFinishes: true, or use condition.ttlSeconds of deletion rules instead.",
        ),
    )


@expression("J6")
def _gate_off(to: Rendering) -> str:
    if to.gate(GATE):
        return NOTHING
    return when(
        "has(variables.spec.deletionStrategy)",
        finding(
            STRATEGY,
            f"deletionStrategy is set, but the feature gate {GATE} of the operator is off.",
            f"Turn {GATE} on in the operator, or use shutdownAfterJobFinishes.",
        ),
    )


@expression("J7")
def _rules_with_shutdown(_: Rendering) -> str:
    return when(
        "size(variables.ruleSpecs) > 0 && variables.shutdown",
        finding(
            RULES_PATH,
            "deletionRules and shutdownAfterJobFinishes: true exclude each other.",
            "Keep one: remove shutdownAfterJobFinishes, or remove the rules.",
        ),
    )


@expression("J8")
def _rules_with_legacy(_: Rendering) -> str:
    return when(
        "size(variables.ruleSpecs) > 0 && size(variables.legacy) > 0",
        finding(
            STRATEGY,
            "deletionRules and the legacy {variables.legacy.join(' and ')} exclude each other.",
            "Write the legacy policies as deletion rules.",
        ),
    )


@expression("J9")
def _strategy_empty(_: Rendering) -> str:
    return when(
        "has(variables.spec.deletionStrategy) && size(variables.ruleSpecs) == 0 && size(variables.legacy) == 0",
        finding(
            STRATEGY,
            "deletionStrategy is set but says nothing.",
            "Add at least one deletion rule, or remove deletionStrategy.",
        ),
    )


@expression("J10")
def _condition_ambiguous(_: Rendering) -> str:
    return each(
        _RULES,
        "r",
        "r.onJob == r.onDeployment",
        finding(
            "{r.path}.condition",
            "The condition has {r.onJob ? 'both' : 'neither'} of jobStatus and jobDeploymentStatus.",
            "Set exactly one of them; use two rules for two statuses.",
        ),
    )


@expression("J11")
def _rule_ttl_negative(_: Rendering) -> str:
    return each(
        _RULES,
        "r",
        "r.ttl < 0",
        finding(
            "{r.path}.condition.ttlSeconds",
            "ttlSeconds is {r.ttl}, and it may not be negative.",
            "Use 0 for an immediate deletion, or a number of seconds.",
        ),
    )


@expression("J12")
def _rule_on_selected_cluster(_: Rendering) -> str:
    return each(
        _RULES,
        "r",
        "variables.selected && r.policy in variables.deletesCluster",
        finding(
            "{r.path}.policy",
            "{r.policy} is not supported with clusterSelector: the RayCluster belongs to others.",
            "Remove the rule.",
        ),
    )


@expression("J13")
def _rule_workers_autoscaled(_: Rendering) -> str:
    return each(
        _RULES,
        "r",
        "variables.autoscaling && r.policy == 'DeleteWorkers'",
        finding(
            "{r.path}.policy",
            "DeleteWorkers is not supported while enableInTreeAutoscaling is true.",
            "Use DeleteCluster, or turn autoscaling off.",
        ),
    )


@expression("J14")
def _rule_duplicate(_: Rendering) -> str:
    same = "o.index < r.index && o.policy == r.policy && o.onJob == r.onJob && o.status == r.status"
    first = f"variables.comparable.filter(o, {same})[0].index"
    return each(
        "variables.comparable",
        "r",
        f"variables.comparable.exists(o, {same})",
        finding(
            "{r.path}",
            f"It repeats deletionRules[{{{first}}}]: {{r.policy}} on {_TRIGGER} {{r.status}}.",
            "Remove one of the two.",
        ),
    )


@expression("J15")
def _rule_ttl_order(_: Rendering) -> str:
    earlier = (
        "variables.distinct.filter(o, o.stage >= 0 && o.stage < r.stage && o.onJob == r.onJob && o.status == r.status)"
    )
    before = f"{earlier}.filter(o, !{earlier}.exists(m, m.stage > o.stage))"
    return each(
        "variables.distinct",
        "r",
        f"{before}.exists(o, r.ttl < o.ttl)",
        finding(
            "{r.path}.condition.ttlSeconds",
            f"On {_TRIGGER} {{r.status}}, {{r.policy}} comes after {{r.ttl}} s but "
            f"{{{before}[0].policy}} only after {{{before}[0].ttl}} s.",
            f"Give {{r.policy}} a ttlSeconds of at least {{{before}[0].ttl}}.",
        ),
    )


@expression("J16")
def _legacy_incomplete(_: Rendering) -> str:
    missing = each(
        "['onSuccess', 'onFailure']",
        "f",
        "!(f in variables.strategy)",
        finding(
            f"{STRATEGY}.{{f}}",
            "{f} is missing, and onSuccess and onFailure are only accepted together.",
            "Add {f}.policy, or use deletionRules.",
        ),
    )
    empty = each(
        "variables.legacy",
        "f",
        "!has(variables.strategy[f].policy)",
        finding(f"{STRATEGY}.{{f}}.policy", "{f} has no policy.", "Set one, or use deletionRules."),
    )
    return under("size(variables.legacy) > 0", together(missing, empty))


@expression("J17")
def _legacy_on_selected_cluster(_: Rendering) -> str:
    return each(
        _LEGACY,
        "l",
        "variables.selected && l.policy in variables.deletesCluster",
        finding(
            f"{STRATEGY}.{{l.field}}.policy",
            "{l.policy} is not supported with clusterSelector, because the RayCluster belongs to others.",
            "Use DeleteNone or DeleteSelf.",
        ),
    )


@expression("J18")
def _legacy_workers_autoscaled(_: Rendering) -> str:
    return each(
        _LEGACY,
        "l",
        "variables.autoscaling && l.policy == 'DeleteWorkers'",
        finding(
            f"{STRATEGY}.{{l.field}}.policy",
            "DeleteWorkers is not supported while enableInTreeAutoscaling is true.",
            "Use DeleteCluster, or turn autoscaling off.",
        ),
    )


@expression("J19")
def _legacy_none_with_shutdown(_: Rendering) -> str:
    return each(
        _LEGACY,
        "l",
        "variables.shutdown && l.policy == 'DeleteNone'",
        finding(
            f"{STRATEGY}.{{l.field}}.policy",
            "DeleteNone keeps everything, but shutdownAfterJobFinishes: true deletes the RayCluster.",
            "Remove one of the two.",
        ),
    )


_TRIGGER = "{r.onJob ? 'jobStatus' : 'jobDeploymentStatus'}"
