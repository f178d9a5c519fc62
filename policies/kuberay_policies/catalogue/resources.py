"""Policies on what containers request of their nodes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import mapping
from kuberay_model.sentences import listed
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.quantities import amounts, is_device, quantity, shown
from kuberay_policies.stack import Context
from kuberay_policies.targets import Container, ContainerKind, Group, Role, Scope


class Requests(Parameters):
    """Parameters of P401."""

    sidecars: Annotated[bool, Field(description="Also look at sidecars and init containers. Default false.")] = False


class Limits(Parameters):
    """Parameters of P402."""

    cpu: Annotated[bool, Field(description="Also compare CPUs. Default false.")] = False


class HeadCpus(Parameters):
    """Parameters of P405."""

    from_workers: Annotated[
        int, Field(ge=0, description="Number of worker Pods from which the head must run no tasks. Default 8.")
    ] = 8


@policy(
    "P401",
    "requests-set",
    "Containers that run Ray or submit jobs say how much CPU and memory they need",
    family=Family.SCHEDULING,
    scope=Scope.CONTAINER,
    severity=Severity.ERROR,
    parameters=Requests,
    why="Ray takes the container's limits as the size of its node; without them it takes the whole machine, and "
    "Kubernetes places and evicts the Pod as if it needed nothing.",
    sources=("KubeRay documentation: Configuration", "ray#62340"),
)
def requests_set(container: Container, parameters: Requests, _: Context) -> Iterator[Problem]:
    """Look at requests and at the limit of memory; a limit alone is a request too."""
    if container.kind is not ContainerKind.MAIN and not parameters.sidecars:
        return
    requests, limits = container.amounts("requests"), container.amounts("limits")
    missing = [f"requests.{name}" for name in ("cpu", "memory") if name not in requests]
    missing += ["limits.memory"] if "memory" not in limits else []
    if missing:
        yield Problem(
            f"{container.path}.resources",
            f"Container {container.name!r} has no {listed(missing, 'and no')}.",
            f"Set resources.{listed(missing)}.",
        )


@policy(
    "P402",
    "memory-request-equals-limit",
    "Containers that run Ray request all the memory they may use",
    family=Family.SCHEDULING,
    scope=Scope.CONTAINER,
    severity=Severity.WARNING,
    parameters=Limits,
    why="Ray uses memory up to the limit. With a smaller request the node may run out first, and the kernel kills "
    "a process of somebody; a head that is killed takes the job with it.",
    sources=("KubeRay documentation: Configuration",),
)
def equal_memory(container: Container, parameters: Limits, _: Context) -> Iterator[Problem]:
    """Compare request and limit."""
    if container.kind is not ContainerKind.MAIN or container.pod.role is Role.SUBMITTER:
        return
    requests, limits = container.amounts("requests"), container.amounts("limits")
    for name in ("memory", "cpu") if parameters.cpu else ("memory",):
        low, high = quantity(requests.get(name)), quantity(limits.get(name))
        if low is not None and high is not None and low != high:
            yield Problem(
                f"{container.path}.resources.requests.{name}",
                f"Container {container.name!r} requests {shown(name, low)} {name} and may use {shown(name, high)}.",
                f"Make both {limits.get(name)}.",
            )


@policy(
    "P403",
    "device-request-equals-limit",
    "GPUs and other devices have a limit, and the request equals it",
    family=Family.SCHEDULING,
    scope=Scope.CONTAINER,
    severity=Severity.ERROR,
    why="Kubernetes refuses a Pod that requests a device without the same limit, or a part of one. The RayJob is "
    "accepted, and its Pods cannot be created.",
    sources=("Kubernetes documentation: Extended resources",),
)
def equal_devices(container: Container, _: Parameters, __: Context) -> Iterator[Problem]:
    """Compare requests and limits of extended resources."""
    requests = mapping(mapping(container.fields.get("resources")).get("requests"))
    limits = container.amounts("limits")
    for name in dict.fromkeys((*requests, *limits)):
        if not is_device(name):
            continue
        path = f"{container.path}.resources"
        high = quantity(limits.get(name))
        low = quantity(requests.get(name, limits.get(name)))
        if high is None:
            yield Problem(f"{path}.requests[{name}]", f"{name} has a request and no limit.", "Set the same limit.")
        elif low != high:
            seen = "no amount" if low is None else shown(name, low)
            yield Problem(
                f"{path}.requests[{name}]",
                f"The request of {name} is {seen}, and the limit is {shown(name, high)}.",
                "Make them equal.",
            )
        elif high.denominator != 1:
            yield Problem(f"{path}.limits[{name}]", f"{shown(name, high)} is a part of a {name}.", "Use whole ones.")


@policy(
    "P404",
    "ray-start-params-match",
    "rayStartParams say of GPUs and CPUs what the container has",
    family=Family.SCHEDULING,
    scope=Scope.GROUP,
    severity=Severity.WARNING,
    why="Ray places tasks by rayStartParams if they are set. More than the container has means tasks that fail or "
    "disturb each other, less means devices that are paid for and never used. num-cpus 0 on the head is usual.",
    sources=("KubeRay documentation: Configuration",),
)
def start_params(group: Group, _: Parameters, __: Context) -> Iterator[Problem]:
    """Compare num-gpus and num-cpus with the limits of the container."""
    params = mapping(group.fields.get("rayStartParams"))
    limits = group.pod.main.amounts("limits")
    gpus = amounts({name: value for name, value in limits.items() if is_device(name) and name.endswith("/gpu")})
    for param, has in (
        ("num-gpus", sum(gpus.values(), Fraction(0))),
        ("num-cpus", quantity(limits.get("cpu"))),
    ):
        declared = quantity(params.get(param))
        if declared is None or has is None or declared == has or (param == "num-cpus" and declared <= has):
            continue
        yield Problem(
            f"{group.path}.rayStartParams.{param}",
            f"{param} is {params[param]}, and the container of {group.title[0].lower()}{group.title[1:]} has "
            f"{shown('', has)}.",
            f"Remove {param}; KubeRay takes it from the container's limits.",
        )


@policy(
    "P405",
    "head-runs-no-tasks",
    "The head of a large RayCluster runs no tasks",
    family=Family.SCHEDULING,
    scope=Scope.GROUP,
    severity=Severity.WARNING,
    parameters=HeadCpus,
    why="Tasks on the head compete with the GCS, the dashboard and the driver; a head that runs out of memory takes "
    "the job with it.",
    sources=("Ray documentation: Best practices for deploying large clusters",),
)
def head_cpus(group: Group, parameters: HeadCpus, _: Context) -> Iterator[Problem]:
    """Look at num-cpus of the head if there are many workers."""
    if group.role is not Role.HEAD:
        return
    workers = 0
    for other in group.cluster.workers:
        field = "maxReplicas" if group.cluster.autoscaling else "replicas"
        replicas, hosts = (quantity(other.fields.get(name)) for name in (field, "numOfHosts"))
        workers += int((0 if replicas is None else replicas) * (1 if hosts is None else hosts))
    declared = mapping(group.fields.get("rayStartParams")).get(
        "num-cpus", mapping(group.fields.get("resources")).get("CPU")
    )
    if workers >= parameters.from_workers and quantity(declared) != 0:
        yield Problem(
            f"{group.path}.rayStartParams.num-cpus",
            f"The RayCluster may have {workers} workers, and its head runs tasks as well.",
            'Set rayStartParams.num-cpus: "0" on the head.',
        )
