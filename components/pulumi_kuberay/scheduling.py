"""Who decides when a RayJob or a RayCluster may have its pods: one choice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import without_none

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
MAX_EXEC_TIME_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
ELASTIC_ANNOTATION = "kueue.x-k8s.io/elastic-job"


@dataclass(kw_only=True)
class KueueQueue:
    """The queue in which a workload waits."""

    name: pulumi.Input[str]
    """Name of a LocalQueue in the namespace of the workload."""

    priority_class: pulumi.Input[str] | None = None
    """Name of a WorkloadPriorityClass. Default: none, priority 0."""

    max_exec_time_seconds: int | None = None
    """Seconds after its admission at which Kueue stops the workload, 1 or more. Default: no limit."""

    elastic: bool | None = None
    """True: the workload may be autoscaled, which needs Kueue's feature gate ElasticJobsViaWorkloadSlices.
    Default: false."""


@dataclass(kw_only=True)
class Scheduling:
    """Who decides when a workload may have its pods: one choice, exactly one field.

    A workload without a choice gets its pods at once.
    """

    queue: KueueQueue | None = None
    """Kueue decides: the workload waits in a queue. Kueue alone writes ``spec.suspend``."""

    suspended: bool | None = None
    """A person decides: true holds the workload back or takes its pods away, false lets it have them."""


def queue(
    name: pulumi.Input[str],
    *,
    priority_class: pulumi.Input[str] | None = None,
    max_exec_time_seconds: int | None = None,
    elastic: bool | None = None,
) -> Scheduling:
    """Wait in a queue of Kueue. The arguments are the fields of `KueueQueue`."""
    return Scheduling(
        queue=KueueQueue(
            name=name, priority_class=priority_class, max_exec_time_seconds=max_exec_time_seconds, elastic=elastic
        )
    )


def suspended(now: bool = True) -> Scheduling:
    """Be suspended by hand: with `now` false the workload runs, and can be suspended by a later update."""
    return Scheduling(suspended=now)


@dataclass(frozen=True)
class SchedulingFields:
    """What a choice comes to.

    Attributes:
        labels: Labels of the object.
        annotations: Annotations of the object.
        spec: Fields of its spec.
    """

    labels: Mapping[str, Any]
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]


def scheduling_fields(scheduling: Scheduling | None) -> SchedulingFields:
    """Return the fields of an object that make the choice.

    Raises:
        ArgumentError: Not exactly one choice is made, or a time is not positive.
    """
    if scheduling is None:
        return SchedulingFields({}, {}, {})
    if (scheduling.queue is None) == (scheduling.suspended is None):
        made = "none of them is" if scheduling.queue is None else "both are"
        raise ArgumentError(
            f"The scheduling of a workload is exactly one of queue and suspended, but {made} set; Kueue alone suspends "
            "what is in a queue."
        )
    if scheduling.queue is None:
        return SchedulingFields({}, {}, {"suspend": scheduling.suspended})
    return _in_queue(scheduling.queue)


def _in_queue(queue: KueueQueue) -> SchedulingFields:
    limit = queue.max_exec_time_seconds
    if limit is not None and limit < 1:
        raise ArgumentError(f"The max_exec_time_seconds of a queue must be 1 or more, but it is {limit}.")
    labels = without_none(
        {
            QUEUE_LABEL: queue.name,
            PRIORITY_LABEL: queue.priority_class,
            MAX_EXEC_TIME_LABEL: None if limit is None else str(int(limit)),
        }
    )
    return SchedulingFields(labels, {ELASTIC_ANNOTATION: "true"} if queue.elastic else {}, {})


def queue_problem(cluster: Any, *, elastic: bool) -> str | None:
    """Say why Kueue would not take a RayCluster, as the end of a sentence; None if nothing is known against it.

    Args:
        cluster: Its spec.
        elastic: Whether the workload may be autoscaled.
    """
    spec = cluster if isinstance(cluster, Mapping) else {}
    if spec.get("enableInTreeAutoscaling") is True and not elastic:
        return (
            "its RayCluster has autoscaling, which Kueue refuses unless the queue is elastic; set elastic, with "
            "Kueue's feature gate ElasticJobsViaWorkloadSlices, or drop autoscaling"
        )
    names = [group.get("groupName") for group in spec.get("workerGroupSpecs") or ()]
    if any(isinstance(name, str) and name.lower() == "head" for name in names):
        return "it has a worker group named head, which is what Kueue calls the head pod; rename the group"
    return None
