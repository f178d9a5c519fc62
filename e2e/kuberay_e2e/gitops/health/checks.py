"""All checks, in the order in which they are written."""

from kuberay_e2e.gitops.health import kueue, ray, rayjob
from kuberay_e2e.gitops.health.rules import Check


def checks() -> tuple[Check, ...]:
    """The checks of RayJob, RayCluster, RayService, ClusterQueue, LocalQueue and Workload."""
    return (
        rayjob.check(),
        ray.ray_cluster(),
        ray.ray_service(),
        kueue.cluster_queue(),
        kueue.local_queue(),
        kueue.workload(),
    )
