"""Rules on the in-tree autoscaler of the RayCluster."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.cleanup import GATE
from kuberay_model.rules.job import AUTOSCALER_V2_ENV, Job
from kuberay_model.rules.kubernetes import at_least, generic_version
from kuberay_model.rules.pods import Group, env_by_name
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import integer
from kuberay_model.versions import Version

OPTIONS = "spec.rayClusterSpec.autoscalerOptions"
START_COMMAND_ENV = "KUBERAY_GEN_AUTOSCALER_START_CMD"
PRIORITY_RAY_VERSION = (2, 56, 0)

_USE_V2 = "Set enableInTreeAutoscaling: true and autoscalerOptions.version: v2"


@rule("C6", "idleTimeoutSeconds of a worker group is not negative and needs autoscaler v2", since=Version(1, 6))
def worker_idle_timeout(job: Job) -> Iterator[Problem]:
    """Version 1 of the autoscaler has no timeout per group."""
    for group in job.workers:
        timeout = group.integer("idleTimeoutSeconds")
        if timeout is None:
            continue
        path = f"{group.path}.idleTimeoutSeconds"
        if timeout < 0:
            yield Problem(path, f"{group.title} has idleTimeoutSeconds {timeout}.", "Use 0 or more.", item=group.index)
        elif not _has_v2(job):
            yield Problem(
                path,
                f"{group.title} has idleTimeoutSeconds, which needs version 2 of the autoscaler.",
                f"{_USE_V2}, or remove idleTimeoutSeconds.",
                item=group.index,
            )


@rule("C7", "priority of a worker group needs Ray 2.56.0 and autoscaler v2", since=Version(1, 7))
def worker_priority(job: Job) -> Iterator[Problem]:
    """A priority of 0 is none."""
    for group in job.workers:
        if not group.integer("priority"):
            continue
        if (wrong := _priority_error(job, group)) is not None:
            yield Problem(f"{group.path}.priority", *wrong, item=group.index)


def _priority_error(job: Job, group: Group) -> tuple[str, str] | None:
    ray = generic_version(job.ray_version)
    if ray is None or not at_least(ray, PRIORITY_RAY_VERSION):
        seen = repr(job.ray_version) if job.ray_version else "not set"
        return (
            f"{group.title} has a priority, which needs Ray 2.56.0, but rayVersion is {seen}.",
            "Raise rayVersion together with the images, or remove priority.",
        )
    if not _has_v2(job):
        return (
            f"{group.title} has a priority, which needs version 2 of the autoscaler.",
            f"{_USE_V2}, or remove priority.",
        )
    return None


@rule("C13", "A worker group is suspended only with the deletion policy gate on and autoscaling off")
def suspended_group(job: Job) -> Iterator[Problem]:
    """Suspending worker groups is how the operator carries DeleteWorkers out."""
    for group in job.workers:
        if group.fields.get("suspend") is not True:
            continue
        path = f"{group.path}.suspend"
        if not job.gate(GATE):
            yield Problem(
                path,
                f"{group.title} is suspended, but the feature gate {GATE} of the operator is off.",
                f"Remove suspend, or turn {GATE} on in the operator.",
                place="C13/gate",
            )
        if job.autoscaling:
            yield Problem(
                path,
                f"{group.title} is suspended while enableInTreeAutoscaling is true.",
                "Remove suspend, or turn autoscaling off.",
                place="C13/autoscaling",
            )


@rule("C14", f"{AUTOSCALER_V2_ENV} is not on while autoscaling is off")
def v2_without_autoscaling(job: Job) -> Iterator[Problem]:
    """Only the values 1 and true count, as the operator compares them."""
    if not job.autoscaling and job.autoscaler_v2_by_env:
        yield Problem(
            f"{job.head.ray_container.path}.env",
            f"{AUTOSCALER_V2_ENV} is {job.autoscaler_v2_by_env!r}, but enableInTreeAutoscaling is false.",
            f"Remove the variable. {_USE_V2} to use it.",
        )


@rule("C15", f"autoscalerOptions.version and {AUTOSCALER_V2_ENV} are not both set")
def version_set_twice(job: Job) -> Iterator[Problem]:
    """The field replaces the variable, whatever the variable's value."""
    if job.autoscaling and "version" in job.autoscaler_options and AUTOSCALER_V2_ENV in job.head.ray_container.env:
        yield Problem(
            f"{job.head.ray_container.path}.env",
            f"autoscalerOptions.version and {AUTOSCALER_V2_ENV} are both set.",
            "Remove the variable.",
        )


@rule("C16", "With autoscaler v2 the Ray Pods are not restarted")
def restart_policy(job: Job) -> Iterator[Problem]:
    """Version 2 replaces Pods instead of restarting them."""
    if not (job.autoscaling and job.autoscaler_v2):
        return
    for group in job.groups:
        if group.restart_policy not in ("", "Never"):
            yield Problem(
                f"{group.path}.template.spec.restartPolicy",
                f"{group.title} has restartPolicy {group.restart_policy}; autoscaler v2 allows Never only.",
                "Remove it or set Never.",
            )


@rule("C17", "autoscalerOptions.idleTimeoutSeconds is not negative", since=Version(1, 6))
def idle_timeout(job: Job) -> Iterator[Problem]:
    """Check the sign."""
    timeout = integer(job.autoscaler_options.get("idleTimeoutSeconds"))
    if timeout is not None and timeout < 0:
        yield Problem(f"{OPTIONS}.idleTimeoutSeconds", f"idleTimeoutSeconds is {timeout}.", "Use 0 or more.")


@rule("C18", f"autoscalerOptions.env does not set {START_COMMAND_ENV}", since=Version(1, 7))
def start_command(job: Job) -> Iterator[Problem]:
    """The operator sets it."""
    if START_COMMAND_ENV in env_by_name(job.autoscaler_options.get("env")):
        yield Problem(f"{OPTIONS}.env", f"{START_COMMAND_ENV} is set by the operator.", "Remove it.")


def _has_v2(job: Job) -> bool:
    return job.autoscaler_v2 or bool(job.autoscaler_v2_by_env)
