"""Policies on what the autoscaler of a RayCluster may do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import INT32_MAX, integer, mapping
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.quantities import is_device
from kuberay_policies.stack import Context
from kuberay_policies.targets import Cluster, Group, Role, Scope


class Workers(Parameters):
    """Parameters of P120."""

    max_replicas: Annotated[
        int | None, Field(ge=0, description="Largest maxReplicas of a worker group. Default any that is set.")
    ] = None


class Idle(Parameters):
    """Parameters of P121."""

    max_seconds: Annotated[
        int, Field(ge=0, description="Longest time until an idle worker is removed, in seconds. Default 600.")
    ] = 600


@policy(
    "P120",
    "autoscaler-limit",
    "Each worker group that is scaled has a largest size",
    family=Family.LIFECYCLE,
    scope=Scope.GROUP,
    severity=Severity.ERROR,
    parameters=Workers,
    why="maxReplicas is 2147483647 if it is not set: one mistake in a job then fills the whole cluster.",
)
def autoscaler_limit(group: Group, parameters: Workers, _: Context) -> Iterator[Problem]:
    """Look at maxReplicas of groups that the autoscaler scales."""
    if group.role is not Role.WORKER or not group.cluster.autoscaling:
        return
    path = f"{group.path}.maxReplicas"
    most = integer(group.fields.get("maxReplicas"))
    if most is None or most == INT32_MAX:
        yield Problem(path, f"{group.title} is scaled without a limit.", "Set maxReplicas.")
    elif parameters.max_replicas is not None and most > parameters.max_replicas:
        yield Problem(path, f"maxReplicas is {most}.", f"Use at most {parameters.max_replicas}.")


@policy(
    "P121",
    "idle-timeout-limit",
    "Idle workers are removed within a limit",
    family=Family.LIFECYCLE,
    scope=Scope.CLUSTER,
    severity=Severity.WARNING,
    parameters=Idle,
    why="An idle worker keeps its GPUs and its quota.",
)
def idle_timeout(cluster: Cluster, parameters: Idle, _: Context) -> Iterator[Problem]:
    """Compare the timeouts of the autoscaler and of the groups."""
    if not cluster.autoscaling:
        return
    options = mapping(cluster.fields.get("autoscalerOptions"))
    values = [(f"{cluster.path}.autoscalerOptions", options.get("idleTimeoutSeconds"))]
    values += [(group.path, group.fields.get("idleTimeoutSeconds")) for group in cluster.workers]
    for path, value in values:
        seconds = integer(value)
        if seconds is not None and seconds > parameters.max_seconds:
            yield Problem(
                f"{path}.idleTimeoutSeconds",
                f"An idle worker is removed after {seconds} s, and at most {parameters.max_seconds} s are allowed.",
                f"Use {parameters.max_seconds} or less.",
            )


@policy(
    "P122",
    "devices-scale-to-zero",
    "A worker group with GPUs that is scaled may shrink to nothing",
    family=Family.LIFECYCLE,
    scope=Scope.GROUP,
    severity=Severity.WARNING,
    why="minReplicas above 0 holds GPUs while no task needs one.",
)
def devices_scale_to_zero(group: Group, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at minReplicas of groups with devices."""
    if group.role is not Role.WORKER or not group.cluster.autoscaling:
        return
    least = integer(group.fields.get("minReplicas")) or 0
    if least > 0 and any(is_device(name) for name in group.pod.main.amounts("requests")):
        yield Problem(
            f"{group.path}.minReplicas",
            f"{group.title} has GPUs and keeps {least} of its Pods while nothing needs them.",
            "Set minReplicas: 0.",
        )


@policy(
    "P123",
    "autoscaled-replicas-undeclared",
    "replicas is left to the autoscaler",
    family=Family.LIFECYCLE,
    scope=Scope.GROUP,
    severity=Severity.WARNING,
    kinds=frozenset({"RayCluster"}),
    why="Each apply of a declared replicas takes the group back to that size, against the autoscaler, which may "
    "kill running tasks. In a RayJob the value is only the size at the start.",
    sources=("kuberay#4149", "ray#58340"),
)
def replicas_declared(group: Group, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for replicas in groups that the autoscaler scales."""
    if group.role is Role.WORKER and group.cluster.autoscaling and "replicas" in group.fields:
        yield Problem(
            f"{group.path}.replicas",
            "The autoscaler changes replicas, and each apply of the manifest takes it back.",
            "Remove replicas; minReplicas is the size at the start.",
        )
