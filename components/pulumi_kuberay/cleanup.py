"""What happens to the RayCluster when a RayJob has finished: one choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kuberay_model.versions import Version
from pulumi_kuberay.errors import ArgumentError

FAILED_RULE_SINCE = Version(1, 6)
"""First release whose deletion rules know ``jobDeploymentStatus: Failed``."""

DEFAULT_TTL_SECONDS = 300


class DeletionPolicy(StrEnum):
    """What a deletion rule deletes."""

    DELETE_WORKERS = "DeleteWorkers"
    """The worker pods; the head stays, so logs can still be read on the dashboard."""

    DELETE_CLUSTER = "DeleteCluster"
    """The whole RayCluster; the RayJob object stays."""

    DELETE_SELF = "DeleteSelf"
    """The RayJob object too. A later ``pulumi refresh`` forgets it, and the next ``up`` would run the job again, so
    the RayJob must have `record_run`."""

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
    deadline. Needs KubeRay 1.6."""

    ttl_seconds: int | None = None
    """Seconds after the end of the job, 0 or more. Default: 0."""


@dataclass(kw_only=True)
class LegacyDeletion:
    """What is deleted at the end, as KubeRay 1.5 says it. Later releases still take it, and will not for ever."""

    on_success: DeletionPolicy
    """What to delete when the job has succeeded."""

    on_failure: DeletionPolicy
    """What to delete when the job has failed."""

    shut_down_after_seconds: int | None = None
    """Seconds after the end at which the rest of the RayCluster goes, 0 or more. Default: it does not."""


@dataclass(kw_only=True)
class Cleanup:
    """What happens to the RayCluster after the end of the job: one choice, exactly one field.

    A RayJob without a choice is shut down 300 seconds after its end.
    """

    keep: bool | None = None
    """True: leave the RayCluster running, and costing, until somebody deletes the RayJob."""

    shut_down_after_seconds: int | None = None
    """Delete the RayCluster this many seconds after the job has ended in any way."""

    deletion_rules: Sequence[DeletionRule] | None = None
    """Delete in stages. Needs the feature gate RayJobDeletionPolicy, which is on from KubeRay 1.6. Not in a queue of
    Kueue, which refuses it."""

    legacy: LegacyDeletion | None = None
    """Delete as KubeRay 1.5 says it: `onSuccess` and `onFailure`. Use `deletion_rules` where you can."""


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


def legacy(
    on_success: DeletionPolicy, on_failure: DeletionPolicy, *, shut_down_after_seconds: int | None = None
) -> Cleanup:
    """Delete as KubeRay 1.5 says it. The arguments are the fields of `LegacyDeletion`."""
    return Cleanup(
        legacy=LegacyDeletion(
            on_success=on_success, on_failure=on_failure, shut_down_after_seconds=shut_down_after_seconds
        )
    )


def cleanup_fields(cleanup: Cleanup, version: Version) -> dict[str, Any]:
    """Return the fields of a RayJob's spec that make the choice.

    To keep the RayCluster is KubeRay's default and sets none: the operator drops a ``shutdownAfterJobFinishes`` that is
    false when it adds its finalizer, which would differ after each refresh.

    Args:
        cleanup: The choice.
        version: Release of the operator.

    Raises:
        ArgumentError: Not exactly one choice is made, a time is negative, a rule has not exactly one condition, or one
            that the release does not know.
    """
    made = [
        name
        for name, value in (
            ("keep", cleanup.keep),
            ("shut_down_after_seconds", cleanup.shut_down_after_seconds),
            ("deletion_rules", cleanup.deletion_rules),
            ("legacy", cleanup.legacy),
        )
        if value is not None and value is not False
    ]
    if len(made) != 1:
        raise ArgumentError(
            f"The cleanup of a RayJob is exactly one of keep, shut_down_after_seconds, deletion_rules and legacy, but "
            f"set is {' and '.join(made) or 'none of them'}; KubeRay refuses a shutdown together with deletion rules."
        )
    if cleanup.deletion_rules is not None:
        return {"deletionStrategy": {"deletionRules": _rules(cleanup.deletion_rules, version)}}
    if cleanup.legacy is not None:
        return _legacy(cleanup.legacy)
    if cleanup.shut_down_after_seconds is not None:
        return _shutdown(cleanup.shut_down_after_seconds)
    return {}


def deletes_itself(spec: Mapping[str, Any]) -> bool:
    """Tell whether KubeRay deletes the RayJob object of this spec in the end."""
    strategy = spec.get("deletionStrategy")
    found = strategy if isinstance(strategy, Mapping) else {}
    parts = [*(found.get("deletionRules") or ()), found.get("onSuccess"), found.get("onFailure")]
    return any(isinstance(part, Mapping) and part.get("policy") == DeletionPolicy.DELETE_SELF for part in parts)


def _shutdown(seconds: float) -> dict[str, Any]:
    return {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": _seconds(seconds)}


def _legacy(choice: LegacyDeletion) -> dict[str, Any]:
    policies = {"onSuccess": choice.on_success, "onFailure": choice.on_failure}
    strategy = {key: {"policy": DeletionPolicy(policy).value} for key, policy in policies.items()}
    seconds = choice.shut_down_after_seconds
    return {"deletionStrategy": strategy, **({} if seconds is None else _shutdown(seconds))}


def _rules(rules: Sequence[DeletionRule], version: Version) -> list[dict[str, Any]]:
    known = version >= FAILED_RULE_SINCE
    if not rules:
        raise ArgumentError("The deletion rules of a RayJob are empty; add a rule, or choose keep or shut_down.")
    if not known and any(rule.deployment_failed for rule in rules):
        raise ArgumentError(
            f"A deletion rule has the condition deployment_failed, which KubeRay {version} does not know; use "
            f"job_status, choose shut_down, or use KubeRay {FAILED_RULE_SINCE} or later."
        )
    made = [_rule(rule) for rule in rules]
    return [*made, *(_rule_for_given_up_jobs(made) if known else ())]


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
