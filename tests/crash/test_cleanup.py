"""What KubeRay cleans up by itself is read from the RayJob's spec."""

from collections.abc import Mapping
from typing import Any

import pytest

from kuberay_e2e.crash.cleanup import Cleanup


def rule(policy: str, ttl: int | None = None, **condition: str) -> Mapping[str, Any]:
    return {"policy": policy, "condition": {**condition, **({} if ttl is None else {"ttlSeconds": ttl})}}


RULES = {
    "deletionStrategy": {
        "deletionRules": [
            rule("DeleteWorkers", 1, jobStatus="SUCCEEDED"),
            rule("DeleteCluster", 5, jobStatus="SUCCEEDED"),
            rule("DeleteSelf", jobDeploymentStatus="Failed"),
            rule("DeleteNone", 0, jobStatus="FAILED"),
        ]
    }
}
POLICIES = {
    "deletionStrategy": {"onSuccess": {"policy": "DeleteWorkers"}, "onFailure": {"policy": "DeleteNone"}},
    "shutdownAfterJobFinishes": True,
    "ttlSecondsAfterFinished": 3,
}
SHUT_DOWN = {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 7}


@pytest.mark.parametrize(
    ("spec", "job", "deployment", "expected"),
    [
        ({}, "SUCCEEDED", "Complete", Cleanup()),
        (SHUT_DOWN, "SUCCEEDED", "Complete", Cleanup(cluster=7)),
        (SHUT_DOWN, "", "Failed", Cleanup(cluster=7)),
        (SHUT_DOWN, "RUNNING", "Running", Cleanup()),
        ({**SHUT_DOWN, "clusterSelector": {"ray.io/cluster": "a"}}, "SUCCEEDED", "Complete", Cleanup()),
        ({"shutdownAfterJobFinishes": True}, "FAILED", "Failed", Cleanup(cluster=0)),
        (RULES, "SUCCEEDED", "Complete", Cleanup(workers=1, cluster=5)),
        (RULES, "FAILED", "Failed", Cleanup(rayjob=0)),
        (RULES, "STOPPED", "Complete", Cleanup()),
        (POLICIES, "SUCCEEDED", "Complete", Cleanup(workers=3)),
        (POLICIES, "FAILED", "Failed", Cleanup()),
        (POLICIES, "STOPPED", "Complete", Cleanup()),
    ],
)
def test_cleanup(spec: Mapping[str, Any], job: str, deployment: str, expected: Cleanup) -> None:
    assert Cleanup.of(spec, job, deployment) == expected
