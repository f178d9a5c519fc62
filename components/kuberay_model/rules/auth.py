"""Rules on token authentication of Ray."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.kubernetes import at_least, generic_version
from kuberay_model.rules.registry import Layer, Problem, explained_only, rule
from kuberay_model.rules.values import mapping
from kuberay_model.versions import Version

OPTIONS = "spec.rayClusterSpec.authOptions"
TOKEN_RAY_VERSION = (2, 52, 0)


@rule("J29", "A RayJob does not use Kubernetes tokens for Ray", since=Version(1, 6))
def kubernetes_token(job: Job) -> Iterator[Problem]:
    """It is for RayClusters only."""
    if mapping(job.cluster.get("authOptions")).get("enableK8sTokenAuth") is True:
        yield Problem(
            f"{OPTIONS}.enableK8sTokenAuth",
            "enableK8sTokenAuth is not supported for a RayJob.",
            "Remove it; use authOptions.mode: token with a Secret.",
        )


@rule("C20", "Token authentication needs Ray 2.52.0")
def token(job: Job) -> Iterator[Problem]:
    """The version is the one that rayVersion says, not the one in the image."""
    if mapping(job.cluster.get("authOptions")).get("mode") != "token":
        return
    ray = generic_version(job.ray_version)
    if ray is None or not at_least(ray, TOKEN_RAY_VERSION):
        seen = f"is {job.ray_version!r}" if job.ray_version else "is not set"
        yield Problem(
            "spec.rayClusterSpec.rayVersion",
            f"authOptions.mode is token, which needs Ray 2.52.0, but rayVersion {seen}.",
            "Set rayVersion to the version in the image, 2.52.0 or later.",
        )


explained_only(
    "C21",
    "Kubernetes tokens need mode token, Ray 2.55.0 and no Secret",
    Layer.OPERATOR,
    "A RayJob is refused by J29 before.",
    since=Version(1, 6),
)
