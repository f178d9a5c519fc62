"""Rules on how the Ray job is submitted."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import HEAD_PATH, Job
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.runtime_env import runtime_env_error
from kuberay_model.rules.values import text


@rule("J25", "A RayJob in InteractiveMode has no retries")
def interactive_with_retries(job: Job) -> Iterator[Problem]:
    """A retry would take the job id of the first attempt."""
    if job.mode == "InteractiveMode" and job.backoff_limit > 0:
        yield Problem(
            "spec.backoffLimit",
            f"backoffLimit is {job.backoff_limit}, but a job submitted by hand cannot be retried.",
            "Set backoffLimit: 0, or choose another submissionMode.",
        )


@rule("J26", "A RayJob in SidecarMode has no submitterPodTemplate")
def sidecar_with_template(job: Job) -> Iterator[Problem]:
    """There is no submitter Pod in this mode."""
    if job.mode == "SidecarMode" and "submitterPodTemplate" in job.spec:
        yield Problem(
            "spec.submitterPodTemplate",
            "submitterPodTemplate is set, but SidecarMode has no submitter Pod.",
            "Remove it, or use K8sJobMode.",
        )


@rule(
    "J27",
    "A RayJob in SidecarMode has no submitterConfig",
    note="This holds even with the feature gate SidecarSubmitterRestart of 1.7, whose guide sets "
    "submitterConfig.backoffLimit.",
)
def sidecar_with_config(job: Job) -> Iterator[Problem]:
    """There is no submitter Job in this mode."""
    if job.mode == "SidecarMode" and "submitterConfig" in job.spec:
        yield Problem(
            "spec.submitterConfig",
            "submitterConfig is set, but SidecarMode has no submitter Job.",
            "Remove it, or use K8sJobMode.",
        )


@rule("J28", "In SidecarMode the head Pod is not restarted")
def sidecar_with_restart(job: Job) -> Iterator[Problem]:
    """A restarted submitter would submit again."""
    if job.mode == "SidecarMode" and job.head.restart_policy not in ("", "Never"):
        yield Problem(
            f"{HEAD_PATH}.template.spec.restartPolicy",
            f"The head Pod has restartPolicy {job.head.restart_policy}, and SidecarMode allows Never only.",
            "Remove it or set Never.",
        )


@rule("J31", "runtimeEnvYAML is a YAML mapping")
def runtime_env(job: Job) -> Iterator[Problem]:
    """Parse the string; what the keys mean is left to Ray."""
    if (wrong := runtime_env_error(text(job.spec.get("runtimeEnvYAML")))) is not None:
        yield Problem(
            "spec.runtimeEnvYAML",
            f"runtimeEnvYAML cannot be read: {wrong}.",
            "Write a YAML mapping such as 'pip: [requests]'.",
        )
