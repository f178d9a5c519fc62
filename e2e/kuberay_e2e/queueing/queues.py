"""The queues of the scenarios, as the Pulumi program declares them: a ClusterQueue and two LocalQueues each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PRIORITIES: Mapping[str, int] = {"queueing-low": 100, "queueing-high": 1000}
"""WorkloadPriorityClasses and their values."""

LOW, HIGH = PRIORITIES

BATCH, URGENT = "batch", "urgent"
"""The LocalQueues of each namespace; both lead to the namespace's own ClusterQueue."""

_MEMORY = "64Gi"


@dataclass(frozen=True)
class Quota:
    """What a scenario's ClusterQueue gives.

    Attributes:
        millicpus: CPU of all jobs that are admitted at a time, in thousandths.
        preempts: Whether a job of higher priority evicts one of lower priority.
    """

    millicpus: int
    preempts: bool = False


def configuration(quotas: Mapping[str, Quota]) -> dict[str, Any]:
    """Configuration of a stack with the namespaces of some scenarios and their queues.

    Args:
        quotas: What each namespace's ClusterQueue, which has the namespace's name, gives.
    """
    return {
        "namespaces": sorted(quotas),
        "flavors": {"queueing": {}},
        "priorityClasses": {name: {"value": value} for name, value in PRIORITIES.items()},
        "clusterQueues": {namespace: _cluster_queue(namespace, quota) for namespace, quota in quotas.items()},
        "localQueues": {
            f"{namespace}-{name}": {"name": name, "namespace": namespace, "clusterQueue": namespace}
            for namespace in quotas
            for name in (BATCH, URGENT)
        },
    }


def _cluster_queue(namespace: str, quota: Quota) -> dict[str, Any]:
    resources = [
        {"name": "cpu", "nominalQuota": f"{quota.millicpus}m"},
        {"name": "memory", "nominalQuota": _MEMORY},
    ]
    queue: dict[str, Any] = {
        "namespaces": [namespace],
        "resourceGroups": [{"flavors": [{"name": "queueing", "resources": resources}]}],
    }
    if quota.preempts:
        queue["preemption"] = {"withinClusterQueue": "LowerPriority"}
    return queue
