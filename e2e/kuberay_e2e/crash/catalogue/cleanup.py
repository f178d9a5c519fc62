"""What KubeRay cleans up after the end: shut down, deletion rules, and the policies for success and failure."""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.crash.scenario import Expected, Scenario, cluster_gone, ended, rayjob_gone, workers_gone
from kuberay_e2e.ray import Script

_HTTP: Mapping[str, Any] = {"submissionMode": "HTTPMode"}
_FAILS = Script(duration=0.5, end="FAILED")
_FAILED = Expected("FAILED", "Failed", "AppFailed", succeeded=0, failed=1)


def _rule(policy: str, ttl: int, **condition: str) -> Mapping[str, Any]:
    return {"policy": policy, "condition": {**condition, "ttlSeconds": ttl}}


def _rules(*rules: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_HTTP, "deletionStrategy": {"deletionRules": list(rules)}}


def _policies(success: str, failure: str) -> Mapping[str, Any]:
    return {"deletionStrategy": {"onSuccess": {"policy": success}, "onFailure": {"policy": failure}}}


SCENARIOS = (
    Scenario(
        "ttl",
        "Shuts its RayCluster down 2 s after the end.",
        cluster_gone,
        {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 2},
    ),
    Scenario(
        "rules",
        "Deletes the workers 1 s after the end, the RayCluster after 5 s and itself after 9 s (deletionRules).",
        rayjob_gone,
        _rules(
            _rule("DeleteWorkers", 1, jobStatus="SUCCEEDED"),
            _rule("DeleteCluster", 5, jobStatus="SUCCEEDED"),
            _rule("DeleteSelf", 9, jobStatus="SUCCEEDED"),
        ),
    ),
    Scenario(
        "rules-failed",
        "Deletes the RayCluster 1 s after a failure (a rule for jobDeploymentStatus Failed).",
        cluster_gone,
        _rules(_rule("DeleteSelf", 1, jobStatus="SUCCEEDED"), _rule("DeleteCluster", 1, jobDeploymentStatus="Failed")),
        (_FAILS,),
        expected=_FAILED,
    ),
    Scenario(
        "rules-none",
        "Keeps everything after the end (DeleteNone).",
        ended,
        _rules(_rule("DeleteNone", 0, jobStatus="SUCCEEDED")),
    ),
    Scenario(
        "on-success",
        "Deletes the workers 1 s after a success (onSuccess).",
        workers_gone,
        {
            **_HTTP,
            **_policies("DeleteWorkers", "DeleteSelf"),
            "shutdownAfterJobFinishes": True,
            "ttlSecondsAfterFinished": 1,
        },
    ),
    Scenario(
        "on-failure",
        "Deletes itself after a failure (onFailure).",
        rayjob_gone,
        {**_HTTP, **_policies("DeleteNone", "DeleteSelf")},
        (_FAILS,),
        expected=_FAILED,
    ),
)
