"""Submissions that nothing refuses although they break or surprise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.kubernetes import at_least
from kuberay_model.rules.registry import Layer, Problem, Severity, rule
from kuberay_model.rules.shell import first_operator
from kuberay_model.rules.values import mapping, text
from kuberay_model.sentences import listed, nearest
from kuberay_model.versions import Version

MODES = ("K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode")
METADATA_RAY_VERSION = (2, 6, 0)

_SEMVER = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?")


@rule("U1", "submissionMode is one that the operator knows", layer=Layer.NOBODY)
def unknown_mode(job: Job) -> Iterator[Problem]:
    """The CRD has no enum for it."""
    if job.mode not in MODES:
        similar = nearest(job.mode, MODES)
        yield Problem(
            "spec.submissionMode",
            f"There is no submissionMode {job.mode!r}: the RayJob becomes Running and nothing is submitted.",
            f"Did you mean {similar}?" if similar else f"Use {listed(MODES, 'or')}.",
        )


@rule("U2", "There is an entrypoint", layer=Layer.NOBODY)
def no_entrypoint(job: Job) -> Iterator[Problem]:
    """A job submitted by hand needs none, nor does a submitter with a command of its own."""
    if job.mode != "InteractiveMode" and not job.entrypoint and not job.submits_by_own_command:
        yield Problem(
            "spec.entrypoint",
            "entrypoint is empty, so the submission fails.",
            "Set the command that starts the job.",
        )


@rule(
    "U3",
    "The entrypoint is one command",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
    note="The operator appends the entrypoint unquoted to the submitter's shell command (kuberay#3691, "
    "reverted by kuberay#3771).",
)
def shell_entrypoint(job: Job) -> Iterator[Problem]:
    """HTTPMode sends the entrypoint as it stands."""
    if job.mode not in ("K8sJobMode", "SidecarMode") or job.submits_by_own_command:
        return
    if (operator := first_operator(job.entrypoint)) is not None:
        yield Problem(
            "spec.entrypoint",
            f"The shell of the submitter, not of the RayCluster, acts on {operator} in the entrypoint.",
            "Put the commands into a script or into sh -c '...'.",
        )


@rule("U4", "The submitter Pod has a container and restartPolicy Never or OnFailure", layer=Layer.NOBODY)
def submitter_template(job: Job) -> Iterator[Problem]:
    """The submitter is a Kubernetes Job, which allows no other policy."""
    group = job.submitter
    if group is None:
        return
    if not group.containers:
        yield Problem(
            f"{group.path}.spec.containers",
            "The submitter Pod has no container, and the operator fails on it again and again.",
            "Add one.",
        )
    if group.restart_policy not in ("Never", "OnFailure"):
        seen = group.restart_policy or "not set, which means Always"
        yield Problem(
            f"{group.path}.spec.restartPolicy",
            f"restartPolicy is {seen}: no Job can be made from it, and the RayJob stays Initializing.",
            "Set Never or OnFailure.",
        )


@rule(
    "U5",
    "Submitter settings are used only where there is a submitter",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
)
def submitter_ignored(job: Job) -> Iterator[Problem]:
    """HTTPMode and InteractiveMode have none."""
    if job.mode in ("HTTPMode", "InteractiveMode"):
        for name in ("submitterPodTemplate", "submitterConfig"):
            if name in job.spec:
                yield Problem(f"spec.{name}", f"{job.mode} has no submitter, and {name} is ignored.", "Remove it.")


@rule(
    "U6",
    "spec.metadata comes with a rayVersion of 2.6.0 or later",
    layer=Layer.NOBODY,
    until=Version(1, 7),
    note="Fixed in 1.7 (kuberay#4616).",
)
def metadata_without_version(job: Job) -> Iterator[Problem]:
    """The submit command cannot be built without it."""
    if not mapping(job.spec.get("metadata")) or job.mode not in ("K8sJobMode", "SidecarMode") or job.selector:
        return
    match = _SEMVER.fullmatch(job.ray_version)
    version = tuple(int(number or 0) for number in match.groups()[:3]) if match else None
    if version is None or not at_least(version, METADATA_RAY_VERSION):
        seen = f"is {job.ray_version!r}" if job.ray_version else "is not set"
        yield Problem(
            "spec.rayClusterSpec.rayVersion",
            f"metadata is set, but rayVersion {seen}: the RayJob stays Initializing.",
            "Set rayVersion to the version in the image.",
        )


@rule("U7", "entrypointResources is a JSON object of numbers", layer=Layer.NOBODY)
def entrypoint_resources(job: Job) -> Iterator[Problem]:
    """It is handed on as a string."""
    source = text(job.spec.get("entrypointResources"))
    if not source:
        return
    try:
        value = json.loads(source)
    except ValueError:
        value = None
    numbers = isinstance(value, dict) and all(
        isinstance(amount, int | float) and not isinstance(amount, bool) for amount in value.values()
    )
    if not numbers:
        yield Problem(
            "spec.entrypointResources",
            f"{source!r} is no JSON object of numbers, so the submission fails.",
            'Write it like {"accelerator": 1}.',
        )


@rule(
    "U15",
    "A RayJob on an existing RayCluster has no fixed jobId",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
)
def job_id_reused(job: Job) -> Iterator[Problem]:
    """A RayCluster that outlives the job remembers its id."""
    if job.selector and text(job.spec.get("jobId")) and job.mode != "InteractiveMode":
        yield Problem(
            "spec.jobId",
            "If the RayCluster has seen this jobId, nothing is submitted and the old result is reported.",
            "Remove jobId, so that each RayJob gets a new one.",
        )
