"""The checks of RayCluster and RayService.

Sources: `calculateStatus` in `controllers/ray/raycluster_controller.go` and `calculateConditions` in
`controllers/ray/rayservice_controller.go`, KubeRay v1.6.2; v1.5 and v1.7 write the same conditions.
"""

from kuberay_e2e.gitops.health.grade import Grade
from kuberay_e2e.gitops.health.predicates import ConditionIs, Equals, Not, SomeEntry, all_of, any_of
from kuberay_e2e.gitops.health.rules import Check, Rule, by_condition, plainly, quoting

_API = "ray.io/v1"
_APPLICATIONS = "applicationStatuses"
_BROKEN = frozenset({"DEPLOY_FAILED", "UNHEALTHY"})


def ray_cluster() -> Check:
    """The check of a RayCluster.

    Once it has been ready it is judged by its head: workers come and go with the autoscaler. Without conditions
    (feature gate RayClusterStatusConditions off) its state tells.
    """
    state = ("status", "state")
    suspended = any_of(
        ConditionIs("RayClusterSuspended"),
        all_of(Equals(state, frozenset({"suspended"})), Not(ConditionIs("RayClusterSuspended", "False"))),
    )
    ready = any_of(ConditionIs("RayClusterProvisioned"), Equals(state, frozenset({"ready"})))
    return Check(
        _API,
        "RayCluster",
        (
            by_condition("The RayCluster cannot create or delete a pod", Grade.BLOCKED, "ReplicaFailure"),
            Rule(suspended, Grade.SUSPENDED, plainly("The RayCluster is suspended.")),
            by_condition("The RayCluster is being suspended", Grade.SUSPENDED, "RayClusterSuspending"),
            Rule(
                all_of(ready, ConditionIs("HeadPodReady", "False")),
                Grade.PROGRESSING,
                quoting("The RayCluster was ready, but its head is not", "HeadPodReady"),
            ),
            Rule(ready, Grade.HEALTHY, plainly("The RayCluster is ready.")),
            by_condition("The RayCluster waits for its head", Grade.PROGRESSING, "HeadPodReady", "False"),
        ),
        Grade.PROGRESSING,
        plainly("The RayCluster waits for its pods."),
    )


def ray_service() -> Check:
    """The check of a RayService.

    An application that fails to deploy shows although the one before it still serves.
    """
    broken = any_of(
        *(
            SomeEntry(("status", place, _APPLICATIONS), "status", _BROKEN)
            for place in ("activeServiceStatus", "pendingServiceStatus")
        )
    )
    failed = ("ValidationFailed", "InitializingTimeout")
    return Check(
        _API,
        "RayService",
        (
            by_condition("The RayService failed", Grade.DEGRADED, "Ready", "False", failed),
            Rule(
                broken,
                Grade.BLOCKED,
                plainly("The RayService has an application that does not deploy or is unhealthy."),
            ),
            by_condition("The RayService goes back to its cluster before", Grade.PROGRESSING, "RollbackInProgress"),
            by_condition("The RayService changes to a new cluster", Grade.PROGRESSING, "UpgradeInProgress"),
            Rule(ConditionIs("Ready"), Grade.HEALTHY, plainly("The RayService serves.")),
            by_condition("The RayService serves no longer", Grade.BLOCKED, "Ready", "False", ("ZeroServeEndpoints",)),
        ),
        Grade.PROGRESSING,
        plainly("The RayService is not ready yet."),
    )
