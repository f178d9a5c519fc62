"""Rules on the metadata of a RayJob."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.kubernetes import is_dns1035_label
from kuberay_model.rules.registry import Layer, Problem, explained_only, rule

NAME_LENGTH = 47
"""Longest RayJob name: a RayCluster name has at most 53 characters, 6 of which the operator appends."""


@rule("J1", f"The name has at most {NAME_LENGTH} characters")
def name_length(job: Job) -> Iterator[Problem]:
    """Measure the name in bytes, as Go does."""
    if (length := len(job.name.encode())) > NAME_LENGTH:
        yield Problem(
            "metadata.name",
            f"The name {job.name!r} has {length} characters, and a RayJob name has at most {NAME_LENGTH}.",
            f"Shorten it by {length - NAME_LENGTH}.",
        )


@rule("J2", "The name is a DNS-1035 label")
def name_syntax(job: Job) -> Iterator[Problem]:
    """Check the syntax of the name."""
    if not is_dns1035_label(job.name):
        yield Problem(
            "metadata.name",
            f"The name {job.name!r} is no DNS-1035 label.",
            "Use lowercase letters, digits and '-' only, begin with a letter and end with a letter or digit.",
        )


explained_only(
    "C24",
    "The name of the RayCluster has at most 53 characters and is a DNS-1035 label",
    Layer.RAY_CLUSTER,
    "A RayJob that keeps J1 and J2 cannot break it: the RayCluster is named after the RayJob, '-' and 5 characters.",
)
