"""The checks of ClusterQueue, LocalQueue and Workload.

Sources: `apis/kueue/v1beta2` and `pkg/controller/core` of Kueue v0.19.2.
"""

from kuberay_e2e.gitops.health.grade import Grade
from kuberay_e2e.gitops.health.predicates import ConditionIs, Equals
from kuberay_e2e.gitops.health.rules import Check, Rule, by_condition, plainly, quoting

_API = "kueue.x-k8s.io/v1beta2"
_HOPELESS = ("ExceedsMaxQuota", "Inadmissible", "Misconfigured", "NoMatchingFlavor")
"""Reasons why a Workload is not admitted that waiting does not cure.

Kueue tells a Workload that is too big from one that waits only with its feature gate UnadmittedWorkloadsObservability;
without it both are Pending.
"""


def cluster_queue() -> Check:
    """The check of a ClusterQueue; one that misses a flavor or an admission check is mended when that comes."""
    return _queue("ClusterQueue")


def local_queue() -> Check:
    """The check of a LocalQueue; one whose ClusterQueue is missing or does not admit is mended with it."""
    return _queue("LocalQueue")


def workload() -> Check:
    """The check of a Workload: whether Kueue has done its part, not whether the job it is for has run."""
    deactivated = Equals(("spec", "active"), frozenset({False}))
    return Check(
        _API,
        "Workload",
        (
            by_condition("The job of the Workload failed", Grade.DEGRADED, "Finished", reasons=("Failed",)),
            Rule(ConditionIs("Finished"), Grade.HEALTHY, quoting("The Workload is finished", "Finished")),
            Rule(deactivated, Grade.SUSPENDED, quoting("The Workload is not active", "Evicted")),
            Rule(ConditionIs("Admitted"), Grade.HEALTHY, plainly("The Workload is admitted.")),
            by_condition("The Workload has quota and waits for its checks", Grade.PROGRESSING, "QuotaReserved"),
            by_condition(
                "The Workload cannot be admitted as things are", Grade.BLOCKED, "QuotaReserved", "False", _HOPELESS
            ),
            by_condition("The Workload waits in its queue", Grade.SUSPENDED, "QuotaReserved", "False"),
        ),
        Grade.PROGRESSING,
        plainly("The Workload has not been seen by Kueue yet."),
    )


def _queue(kind: str) -> Check:
    return Check(
        _API,
        kind,
        (
            Rule(ConditionIs("Active"), Grade.HEALTHY, plainly(f"The {kind} admits workloads.")),
            by_condition(f"The {kind} is stopped", Grade.SUSPENDED, "Active", "False", ("Stopped",)),
            by_condition(f"The {kind} is being deleted", Grade.PROGRESSING, "Active", "False", ("Terminating",)),
            by_condition(f"The {kind} does not admit workloads", Grade.BLOCKED, "Active", "False"),
        ),
        Grade.PROGRESSING,
        plainly(f"The {kind} has not been seen by Kueue yet."),
    )
