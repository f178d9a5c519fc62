"""Rules on the metadata of a RayJob."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.kubernetes import is_dns1035_label, is_dns1123_subdomain, is_label_key, is_label_value
from kuberay_model.rules.registry import Layer, Problem, explained_only, rule
from kuberay_model.rules.values import text

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


@rule("X14", "The name is a DNS-1123 subdomain", layer=Layer.API_SERVER)
def object_name(job: Job) -> Iterator[Problem]:
    """This is what the API server asks of every object; J2 asks for more."""
    if job.name and not is_dns1123_subdomain(job.name):
        yield Problem(
            "metadata.name",
            f"The name {job.name!r} is no DNS-1123 subdomain.",
            "Use lowercase letters, digits and '-' only, begin with a letter and end with a letter or digit.",
        )


@rule("X15", "Labels and annotations of the object have the syntax of Kubernetes", layer=Layer.API_SERVER)
def object_labels(job: Job) -> Iterator[Problem]:
    """The API server asks for it in every object; letter case does not count in the keys of annotations."""
    for field, entries in (("labels", job.labels), ("annotations", job.annotations)):
        for key, value in entries.items():
            path = f"metadata.{field}[{key}]"
            name = str(key) if field == "labels" else str(key).lower()
            if not is_label_key(name):
                yield Problem(
                    path,
                    f"The key {key!r} is no qualified name.",
                    "Use letters, digits, '-', '_' and '.', optionally after a DNS subdomain and '/'.",
                )
            if field == "labels" and not is_label_value(text(value)):
                yield Problem(
                    path,
                    f"The value {value!r} is no label value.",
                    "Use at most 63 letters, digits, '-', '_' and '.', bounded by letters or digits.",
                )


explained_only(
    "C24",
    "The name of the RayCluster has at most 53 characters and is a DNS-1035 label",
    Layer.RAY_CLUSTER,
    "A RayJob that keeps J1 and J2 cannot break it: the RayCluster is named after the RayJob, '-' and 5 characters.",
)
