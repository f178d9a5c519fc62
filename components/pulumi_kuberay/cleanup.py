"""What happens to the RayCluster when a RayJob has finished: one choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pulumi_kuberay.errors import ArgumentError

DEFAULT_TTL_SECONDS = 300


class DeletionPolicy(StrEnum):
    """What a deletion rule deletes."""

    DELETE_WORKERS = "DeleteWorkers"
    """The worker pods; the head stays, so logs can still be read on the dashboard."""

    DELETE_CLUSTER = "DeleteCluster"
    """The whole RayCluster; the RayJob object stays."""

    DELETE_SELF = "DeleteSelf"
    """The RayJob object too. A later ``pulumi refresh`` forgets it, and the next ``up`` runs the job
    again."""

    DELETE_NONE = "DeleteNone"
    """Nothing."""


class FinishedJobStatus(StrEnum):
    """How Ray says the job ended, as a deletion rule tests it."""

    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass(kw_only=True)
class DeletionRule:
    """One rule: when the job has ended this way, delete that after a time. Exactly one condition is set."""

    policy: DeletionPolicy
    """What to delete."""

    job_status: FinishedJobStatus | None = None
    """Applies when Ray says that the job ended so."""

    deployment_failed: bool | None = None
    """True: applies when KubeRay gave the RayJob up (``jobDeploymentStatus: Failed``), for instance at a
    deadline."""

    ttl_seconds: int | None = None
    """Seconds after the end of the job, 0 or more. Default: 0."""


@dataclass(kw_only=True)
class Cleanup:
    """One choice, exactly one field. `keep`, `shut_down` and `deletion_rules` of this module make them.

    A RayJob without a choice is shut down 300 seconds after its end.
    """

    keep: bool | None = None
    """True: leave the RayCluster running, and costing, until somebody deletes the RayJob."""

    shut_down_after_seconds: int | None = None
    """Delete the RayCluster this many seconds after the job has ended in any way."""

    deletion_rules: Sequence[DeletionRule] | None = None
    """Delete in stages. Needs the feature gate RayJobDeletionPolicy, which is on from KubeRay 1.6."""


def keep() -> Cleanup:
    """Leave the RayCluster running after the job."""
    return Cleanup(keep=True)


def shut_down(ttl_seconds: int = DEFAULT_TTL_SECONDS) -> Cleanup:
    """Delete the RayCluster `ttl_seconds` after the end of the job."""
    return Cleanup(shut_down_after_seconds=ttl_seconds)


def deletion_rules(*rules: DeletionRule) -> Cleanup:
    """Delete in stages, by rules.

    A rule for jobs that KubeRay itself gave up is added where there is none: such a job never reports an end
    to Ray, so a rule on the job's status alone would leave its RayCluster running for ever.
    """
    return Cleanup(deletion_rules=rules)


def cleanup_fields(cleanup: Cleanup) -> dict[str, Any]:
    """Return the fields of a RayJob's spec that make the choice.

    Raises:
        ArgumentError: Not exactly one choice is made, a time is negative, or a rule has not exactly one
            condition.
    """
    made = [
        name
        for name, value in (
            ("keep", cleanup.keep),
            ("shut_down_after_seconds", cleanup.shut_down_after_seconds),
            ("deletion_rules", cleanup.deletion_rules),
        )
        if value is not None and value is not False
    ]
    if len(made) != 1:
        seen = " and ".join(made) or "none of them"
        raise ArgumentError(
            f"The cleanup of a RayJob is exactly one of keep, shut_down_after_seconds or deletion_rules, but "
            f"{seen} is set; KubeRay refuses a shutdown together with deletion rules."
        )
    if cleanup.deletion_rules is not None:
        rules = [_rule(rule) for rule in cleanup.deletion_rules]
        if not rules:
            raise ArgumentError("The deletion rules of a RayJob are empty; add a rule, or choose keep or shut_down.")
        return {"deletionStrategy": {"deletionRules": [*rules, *_rule_for_given_up_jobs(rules)]}}
    if cleanup.shut_down_after_seconds is not None:
        ttl = _seconds(cleanup.shut_down_after_seconds)
        return {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": ttl}
    return {"shutdownAfterJobFinishes": False}


def _rule(rule: DeletionRule) -> dict[str, Any]:
    if (rule.job_status is None) == (not rule.deployment_failed):
        raise ArgumentError(
            f"A deletion rule has exactly one condition, job_status or deployment_failed=True, but the rule "
            f"{DeletionPolicy(rule.policy).value} has {'none' if rule.job_status is None else 'both'}."
        )
    condition = (
        {"jobDeploymentStatus": "Failed"}
        if rule.job_status is None
        else {"jobStatus": FinishedJobStatus(rule.job_status).value}
    )
    return {
        "policy": DeletionPolicy(rule.policy).value,
        "condition": {**condition, "ttlSeconds": _seconds(rule.ttl_seconds or 0)},
    }


def _rule_for_given_up_jobs(rules: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if any("jobDeploymentStatus" in rule["condition"] for rule in rules):
        return []
    on_failure = [rule for rule in rules if rule["condition"]["jobStatus"] == FinishedJobStatus.FAILED.value]
    if any(rule["policy"] == DeletionPolicy.DELETE_NONE.value for rule in on_failure):
        return []
    ttl = max(rule["condition"]["ttlSeconds"] for rule in on_failure or rules)
    condition = {"jobDeploymentStatus": "Failed", "ttlSeconds": ttl}
    return [{"policy": DeletionPolicy.DELETE_CLUSTER.value, "condition": condition}]


def _seconds(value: float) -> int:
    if value < 0:
        raise ArgumentError(f"A time until cleanup is 0 seconds or more, but it is {value}.")
    return int(value)
