"""What KubeRay is to clean up by itself after the end of a RayJob, and when, read from the RayJob's spec."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cleanup:
    """Seconds from `status.endTime` until something goes; None where it stays until its user deletes the RayJob.

    Attributes:
        workers: The worker pods (DeleteWorkers).
        cluster: The RayCluster (DeleteCluster, or `shutdownAfterJobFinishes`).
        rayjob: The RayJob (DeleteSelf).
    """

    workers: float | None = None
    cluster: float | None = None
    rayjob: float | None = None

    @classmethod
    def of(cls, spec: Mapping[str, Any], job_status: str, deployment_status: str) -> "Cleanup":
        """Read a spec.

        Nothing is cleaned up while KubeRay takes a RayJob to be going on, and nothing of a RayCluster that is
        selected (rayjob_controller.go, case JobDeploymentStatusComplete, JobDeploymentStatusFailed).

        Args:
            spec: The RayJob's spec.
            job_status: `status.jobStatus` in the end.
            deployment_status: `status.jobDeploymentStatus` in the end.
        """
        if deployment_status not in ("Complete", "Failed") or spec.get("clusterSelector"):
            return cls()
        strategy = spec.get("deletionStrategy") or {}
        ttl = float(spec.get("ttlSecondsAfterFinished") or 0)
        if rules := strategy.get("deletionRules"):
            return cls._by_rules(rules, job_status, deployment_status)
        if strategy:
            name = {"SUCCEEDED": "onSuccess", "FAILED": "onFailure"}.get(job_status, "")
            return cls._one(str((strategy.get(name) or {}).get("policy") or ""), ttl)
        return cls(cluster=ttl) if spec.get("shutdownAfterJobFinishes") else cls()

    @classmethod
    def _by_rules(cls, rules: list[Mapping[str, Any]], job_status: str, deployment_status: str) -> "Cleanup":
        found: dict[str, float] = {}
        for rule in rules:
            condition = rule.get("condition") or {}
            if job_status == condition.get("jobStatus") or deployment_status == condition.get("jobDeploymentStatus"):
                ttl, field = float(condition.get("ttlSeconds") or 0), _FIELDS.get(str(rule.get("policy")))
                if field:
                    found[field] = min(ttl, found.get(field, ttl))
        return cls(**found)

    @classmethod
    def _one(cls, policy: str, ttl: float) -> "Cleanup":
        return cls(**{_FIELDS[policy]: ttl}) if policy in _FIELDS else cls()


_FIELDS = {"DeleteWorkers": "workers", "DeleteCluster": "cluster", "DeleteSelf": "rayjob"}
