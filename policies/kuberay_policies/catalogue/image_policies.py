"""Policies on container images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import text
from kuberay_model.sentences import listed
from kuberay_policies.images import Image
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.targets import Cluster, Container, Scope

MOVING_TAGS = frozenset({"", "latest", "nightly", "main", "master", "dev"})


class Pinning(Parameters):
    """Parameters of P320."""

    digest: Annotated[bool, Field(description="Require a digest, not only a tag. Default false.")] = False


class Registries(Parameters):
    """Parameters of P321."""

    allowed: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            description="Allowed registries, or registries with the beginning of a path, such as "
            "`docker.io/rayproject`. Default all: the policy is idle.",
        ),
    ] = ()


@policy(
    "P320",
    "image-pinned",
    "Each image is pinned",
    family=Family.SECURITY,
    scope=Scope.CONTAINER,
    severity=Severity.ERROR,
    parameters=Pinning,
    why="A moving tag gives each attempt, and each node, another image: results cannot be repeated, and head and "
    "workers may run different versions of Ray.",
)
def pinned(container: Container, parameters: Pinning, _: Context) -> Iterator[Problem]:
    """Look at tag and digest."""
    image = Image.parse(container.image)
    if not container.image or image.digest:
        return
    path = f"{container.path}.image"
    if parameters.digest:
        yield Problem(path, f"The image {container.image} has no digest.", "Add @sha256:… of the image.")
    elif image.tag in MOVING_TAGS:
        seen = f"the moving tag {image.tag}" if image.tag else "no tag, which means latest"
        yield Problem(path, f"The image {container.image} has {seen}.", "Use the tag of a release, or a digest.")


@policy(
    "P321",
    "registry-allowed",
    "Each image is from an allowed registry",
    family=Family.SECURITY,
    scope=Scope.CONTAINER,
    severity=Severity.ERROR,
    parameters=Registries,
    why="Images from elsewhere are not scanned and may disappear.",
)
def registry(container: Container, parameters: Registries, _: Context) -> Iterator[Problem]:
    """Compare with the parameter."""
    image = Image.parse(container.image)
    if container.image and parameters.allowed and not any(image.is_from(prefix) for prefix in parameters.allowed):
        yield Problem(
            f"{container.path}.image",
            f"The image is from {image.registry}/{image.repository}, which is not allowed.",
            f"Use an image from {listed(parameters.allowed, 'or')}.",
        )


@policy(
    "P322",
    "one-ray-version",
    "Head and workers run one version of Ray",
    family=Family.SECURITY,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    why="Workers with another version of Ray than the head do not join it. U17 compares official images with "
    "rayVersion; this policy compares images with each other, and any image's tag with rayVersion.",
)
def one_version(cluster: Cluster, _: Parameters, __: Context) -> Iterator[Problem]:
    """Compare the versions in the tags."""
    head = Image.parse(cluster.head.pod.main.image)
    declared = text(cluster.fields.get("rayVersion"))
    if head.ray_version and declared and head.ray_version != declared:
        yield Problem(
            f"{cluster.head.pod.main.path}.image",
            f"The head's image has Ray {head.ray_version}, and rayVersion is {declared}.",
            "Make them equal.",
        )
    for group in cluster.workers:
        image = Image.parse(group.pod.main.image)
        if head.ray_version and image.ray_version and image.ray_version != head.ray_version:
            yield Problem(
                f"{group.pod.main.path}.image",
                f"{group.title} has Ray {image.ray_version}, and the head has {head.ray_version}.",
                "Use images of one version of Ray.",
            )
