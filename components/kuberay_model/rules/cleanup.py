"""Rules on what is deleted after a RayJob has finished: ttl, shutdown, deletion strategy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from kuberay_model.rules.job import DeletionRule, Job
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import Fields, integer, mapping, text
from kuberay_model.versions import Version

GATE = "RayJobDeletionPolicy"
STRATEGY = "spec.deletionStrategy"
DELETES_CLUSTER = frozenset({"DeleteCluster", "DeleteWorkers"})
STAGES = ("DeleteWorkers", "DeleteCluster", "DeleteSelf")
"""Policies from the mildest to the most thorough; a later one may not come first."""

_LEGACY = ("onSuccess", "onFailure")


@rule("J4", "ttlSecondsAfterFinished is not negative")
def ttl_negative(job: Job) -> Iterator[Problem]:
    """Check the sign."""
    if (ttl := integer(job.spec.get("ttlSecondsAfterFinished"))) is not None and ttl < 0:
        yield Problem(
            "spec.ttlSecondsAfterFinished",
            f"ttlSecondsAfterFinished is {ttl}, and it may not be negative.",
            "Use 0 for an immediate shutdown, or a number of seconds.",
        )


@rule("J5", "ttlSecondsAfterFinished needs shutdownAfterJobFinishes")
def ttl_without_shutdown(job: Job) -> Iterator[Problem]:
    """A ttl says when to shut down, so there must be a shutdown."""
    if (ttl := integer(job.spec.get("ttlSecondsAfterFinished")) or 0) > 0 and not job.shutdown:
        yield Problem(
            "spec.ttlSecondsAfterFinished",
            f"ttlSecondsAfterFinished is {ttl}, but shutdownAfterJobFinishes is false.",
            "Set shutdownAfterJobFinishes: true, or use condition.ttlSeconds of deletion rules instead.",
        )


@rule("J6", f"deletionStrategy needs the feature gate {GATE}")
def gate_off(job: Job) -> Iterator[Problem]:
    """The gate is off by default in 1.5 and on from 1.6."""
    if job.deletion_strategy is not None and not job.gate(GATE):
        yield Problem(
            STRATEGY,
            f"deletionStrategy is set, but the feature gate {GATE} of the operator is off.",
            f"Turn {GATE} on in the operator, or use shutdownAfterJobFinishes.",
        )


@rule("J7", "deletionRules and shutdownAfterJobFinishes exclude each other")
def rules_with_shutdown(job: Job) -> Iterator[Problem]:
    """Rules replace the shutdown."""
    if job.deletion_rules and job.shutdown:
        yield Problem(
            f"{STRATEGY}.deletionRules",
            "deletionRules and shutdownAfterJobFinishes: true exclude each other.",
            "Keep one: remove shutdownAfterJobFinishes, or remove the rules.",
        )


@rule("J8", "deletionRules and onSuccess or onFailure exclude each other")
def rules_with_legacy(job: Job) -> Iterator[Problem]:
    """Rules replace the legacy fields."""
    if job.deletion_rules and _legacy(job):
        yield Problem(
            STRATEGY,
            f"deletionRules and the legacy {' and '.join(_legacy(job))} exclude each other.",
            "Write the legacy policies as deletion rules.",
        )


@rule("J9", "deletionStrategy holds deletion rules, or both onSuccess and onFailure")
def strategy_empty(job: Job) -> Iterator[Problem]:
    """A strategy that says nothing is refused."""
    if job.deletion_strategy is not None and not job.deletion_rules and not _legacy(job):
        yield Problem(
            STRATEGY,
            "deletionStrategy is set but says nothing.",
            "Add at least one deletion rule, or remove deletionStrategy.",
        )


@rule("J10", "A deletion rule has exactly one of jobStatus and jobDeploymentStatus", since=Version(1, 6))
def condition_ambiguous(job: Job) -> Iterator[Problem]:
    """Check that the condition names one status."""
    for entry in job.deletion_rules:
        if (entry.job_status is None) == (entry.deployment_status is None):
            seen = "neither" if entry.job_status is None else "both"
            yield Problem(
                f"{entry.path}.condition",
                f"The condition has {seen} of jobStatus and jobDeploymentStatus.",
                "Set exactly one of them; use two rules for two statuses.",
                item=entry.index,
            )


@rule("J11", "The ttlSeconds of a deletion rule is not negative")
def rule_ttl_negative(job: Job) -> Iterator[Problem]:
    """Check the sign."""
    for entry in job.deletion_rules:
        if entry.ttl < 0:
            yield Problem(
                f"{entry.path}.condition.ttlSeconds",
                f"ttlSeconds is {entry.ttl}, and it may not be negative.",
                "Use 0 for an immediate deletion, or a number of seconds.",
                item=entry.index,
            )


@rule("J12", "A deletion rule does not delete a RayCluster chosen by clusterSelector")
def rule_on_selected_cluster(job: Job) -> Iterator[Problem]:
    """The operator never deletes a RayCluster it has not made."""
    for entry in job.deletion_rules:
        if job.selector and entry.policy in DELETES_CLUSTER:
            yield Problem(
                f"{entry.path}.policy",
                f"{entry.policy} is not supported with clusterSelector: the RayCluster belongs to others.",
                "Remove the rule.",
                item=entry.index,
            )


@rule("J13", "No deletion rule is DeleteWorkers while the RayCluster is autoscaled")
def rule_workers_autoscaled(job: Job) -> Iterator[Problem]:
    """The autoscaler would bring the workers back."""
    for entry in job.deletion_rules:
        if job.autoscaling and entry.policy == "DeleteWorkers":
            yield Problem(
                f"{entry.path}.policy",
                "DeleteWorkers is not supported while enableInTreeAutoscaling is true.",
                "Use DeleteCluster, or turn autoscaling off.",
                item=entry.index,
            )


@rule("J14", "No two deletion rules have the same policy and condition")
def rule_duplicate(job: Job) -> Iterator[Problem]:
    """Find the second of two equal rules."""
    first: dict[tuple[str, tuple[str, str]], int] = {}
    for entry in _countable(job):
        field, value = entry.trigger
        other = first.setdefault((entry.policy, entry.trigger), entry.index)
        if other != entry.index:
            yield Problem(
                entry.path,
                f"It repeats deletionRules[{other}]: {entry.policy} on {field} {value}.",
                "Remove one of the two.",
                item=entry.index,
            )


@rule("J15", "For one status, workers are deleted no later than the cluster, and it no later than the RayJob")
def rule_ttl_order(job: Job) -> Iterator[Problem]:
    """Compare the ttls of the stages of each condition value."""
    stages: dict[tuple[str, str], dict[str, DeletionRule]] = {}
    for entry in _countable(job):
        stages.setdefault(entry.trigger, {}).setdefault(entry.policy, entry)
    for (field, value), by_policy in stages.items():
        ordered = [by_policy[policy] for policy in STAGES if policy in by_policy]
        for earlier, later in pairwise(ordered):
            if later.ttl < earlier.ttl:
                yield Problem(
                    f"{later.path}.condition.ttlSeconds",
                    f"On {field} {value}, {later.policy} comes after {later.ttl} s but "
                    f"{earlier.policy} only after {earlier.ttl} s.",
                    f"Give {later.policy} a ttlSeconds of at least {earlier.ttl}.",
                )


@rule("J16", "The legacy onSuccess and onFailure are set together, each with a policy")
def legacy_incomplete(job: Job) -> Iterator[Problem]:
    """Check that both are there."""
    strategy = mapping(job.deletion_strategy)
    if not _legacy(job):
        return
    for name in _LEGACY:
        path = f"{STRATEGY}.{name}"
        if name not in strategy:
            yield Problem(
                path,
                f"{name} is missing, and onSuccess and onFailure are only accepted together.",
                f"Add {name}.policy, or use deletionRules.",
            )
        elif "policy" not in mapping(strategy[name]):
            yield Problem(f"{path}.policy", f"{name} has no policy.", "Set one, or use deletionRules.")


@rule("J17", "No legacy policy deletes a RayCluster chosen by clusterSelector")
def legacy_on_selected_cluster(job: Job) -> Iterator[Problem]:
    """The operator never deletes a RayCluster it has not made."""
    for name, policy in _legacy_policies(job).items():
        if job.selector and policy in DELETES_CLUSTER:
            yield Problem(
                f"{STRATEGY}.{name}.policy",
                f"{policy} is not supported with clusterSelector, because the RayCluster belongs to others.",
                "Use DeleteNone or DeleteSelf.",
            )


@rule("J18", "No legacy policy is DeleteWorkers while the RayCluster is autoscaled")
def legacy_workers_autoscaled(job: Job) -> Iterator[Problem]:
    """The autoscaler would bring the workers back."""
    for name, policy in _legacy_policies(job).items():
        if job.autoscaling and policy == "DeleteWorkers":
            yield Problem(
                f"{STRATEGY}.{name}.policy",
                "DeleteWorkers is not supported while enableInTreeAutoscaling is true.",
                "Use DeleteCluster, or turn autoscaling off.",
            )


@rule("J19", "shutdownAfterJobFinishes and the legacy policy DeleteNone exclude each other")
def legacy_none_with_shutdown(job: Job) -> Iterator[Problem]:
    """They contradict each other."""
    for name, policy in _legacy_policies(job).items():
        if job.shutdown and policy == "DeleteNone":
            yield Problem(
                f"{STRATEGY}.{name}.policy",
                "DeleteNone keeps everything, but shutdownAfterJobFinishes: true deletes the RayCluster.",
                "Remove one of the two.",
            )


def _legacy(job: Job) -> list[str]:
    return [name for name in _LEGACY if name in mapping(job.deletion_strategy)]


def _legacy_policies(job: Job) -> Mapping[str, str]:
    strategy: Fields = mapping(job.deletion_strategy)
    return {name: text(mapping(strategy.get(name)).get("policy")) for name in _legacy(job)}


def _countable(job: Job) -> Iterator[DeletionRule]:
    """Yield the rules that the operator compares with each other: those without a problem of their own."""
    for entry in job.deletion_rules:
        ambiguous = job.version >= Version(1, 6) and ((entry.job_status is None) == (entry.deployment_status is None))
        on_selected = bool(job.selector) and entry.policy in DELETES_CLUSTER
        autoscaled = job.autoscaling and entry.policy == "DeleteWorkers"
        if not (ambiguous or entry.ttl < 0 or on_selected or autoscaled):
            yield entry
