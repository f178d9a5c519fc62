"""Rules in CEL that the CRD has besides its schema."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.registry import Layer, Problem, rule
from kuberay_model.rules.values import mapping
from kuberay_model.sentences import listed
from kuberay_model.versions import Version

MANAGERS = ("ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue")
STRATEGY = "spec.deletionStrategy"


@rule("X6", "managedBy names the KubeRay operator or MultiKueue", layer=Layer.API_SERVER)
def managed_by(job: Job) -> Iterator[Problem]:
    """The field also cannot be changed later."""
    for path, owner in (("spec", job.spec), ("spec.rayClusterSpec", job.cluster)):
        value = owner.get("managedBy")
        if isinstance(value, str) and value not in MANAGERS:
            yield Problem(f"{path}.managedBy", f"{value!r} is not allowed.", f"Use {listed(MANAGERS, 'or')}.")


@rule("X7", "deletionStrategy has deletionRules or the legacy fields, not both", layer=Layer.API_SERVER)
def strategy_mixed(job: Job) -> Iterator[Problem]:
    """An empty list of rules counts as set."""
    strategy = mapping(job.deletion_strategy)
    legacy = [name for name in ("onSuccess", "onFailure") if name in strategy]
    if legacy and "deletionRules" in strategy:
        yield Problem(
            STRATEGY,
            f"deletionRules and the legacy {' and '.join(legacy)} exclude each other.",
            "Write the legacy policies as deletion rules.",
        )


@rule("X8", "deletionStrategy has deletionRules, or both onSuccess and onFailure", layer=Layer.API_SERVER)
def strategy_incomplete(job: Job) -> Iterator[Problem]:
    """A strategy that says nothing, or half, is refused."""
    strategy = job.deletion_strategy
    if strategy is None or "deletionRules" in strategy:
        return
    if not ("onSuccess" in strategy and "onFailure" in strategy):
        yield Problem(
            STRATEGY,
            "deletionStrategy has neither deletionRules nor both of onSuccess and onFailure.",
            "Add deletion rules, or remove deletionStrategy.",
        )


@rule("X10", "A deletion condition does not have both statuses", layer=Layer.API_SERVER, since=Version(1, 6))
def condition_both(job: Job) -> Iterator[Problem]:
    """Compare with J10, which the operator would report."""
    for entry in job.deletion_rules:
        if entry.job_status is not None and entry.deployment_status is not None:
            yield Problem(
                f"{entry.path}.condition",
                "jobStatus and jobDeploymentStatus are both set.",
                "Set one of them; use two rules for two statuses.",
            )


@rule("X11", "A deletion condition has a status", layer=Layer.API_SERVER, since=Version(1, 6))
def condition_none(job: Job) -> Iterator[Problem]:
    """Compare with J10, which the operator would report."""
    for entry in job.deletion_rules:
        if entry.job_status is None and entry.deployment_status is None:
            yield Problem(
                f"{entry.path}.condition",
                "Neither jobStatus nor jobDeploymentStatus is set.",
                "Set one of them.",
            )
