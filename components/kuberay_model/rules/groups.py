"""Rules on the groups of the RayCluster: containers, resources, labels, replicas."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.kubernetes import is_label_key, is_label_value
from kuberay_model.rules.pods import Group
from kuberay_model.rules.registry import Layer, Problem, explained_only, rule
from kuberay_model.rules.values import mapping, text
from kuberay_model.versions import Version

RESOURCE_PARAMS = ("num-cpus", "num-gpus", "memory", "resources")

explained_only(
    "J30",
    "The rayClusterSpec keeps the rules of a RayCluster",
    Layer.OPERATOR,
    "These are the C rules; the operator reports them as 'The RayJob spec is invalid: ...'.",
)
explained_only(
    "C4",
    "A worker group has minReplicas and maxReplicas unless the RayCluster is autoscaled",
    Layer.OPERATOR,
    "A stored RayJob cannot break it: the CRD fills in 0 and 2147483647.",
    since=Version(1, 6),
)


def _at(group: Group, field: str, wrong: str, remedy: str, rule_id: str = "") -> Problem:
    place = f"{rule_id}/{group.place}" if rule_id else ""
    return Problem(f"{group.path}.{field}", wrong, remedy, place=place, item=group.index)


@rule("C1", "A group has at least one container")
def containers(job: Job) -> Iterator[Problem]:
    """The first container runs Ray."""
    for group in job.groups:
        if not group.containers:
            yield _at(
                group,
                "template.spec.containers",
                f"{group.title} has no container.",
                "Add one; the first container runs Ray.",
                "C1",
            )


@rule("C2", "A group has resources in one place: rayStartParams or resources")
def resources(job: Job) -> Iterator[Problem]:
    """Ray cannot tell which of the two counts."""
    for group in job.groups:
        params = [name for name in RESOURCE_PARAMS if text(group.ray_start_params.get(name))]
        if params and mapping(group.fields.get("resources")):
            yield _at(
                group,
                "resources",
                f"{group.title} has resources and also {', '.join(params)} in rayStartParams.",
                "Keep one of the two.",
                "C2",
            )


@rule("C3", "Labels of a group are in its field labels and have the syntax of Kubernetes labels")
def labels(job: Job) -> Iterator[Problem]:
    """Check where they are, then how they are written."""
    for group in job.groups:
        if "labels" in group.ray_start_params:
            yield _at(
                group,
                "rayStartParams.labels",
                f"{group.title} has labels in rayStartParams.",
                "Move them to the field labels of the group.",
                "C3",
            )
            continue
        for key, value in mapping(group.fields.get("labels")).items():
            if not is_label_key(str(key)):
                yield _at(
                    group,
                    f"labels[{key}]",
                    f"{group.title} has the label key {key!r}, which is no Kubernetes label key.",
                    "Use letters, digits, '-', '_' and '.', optionally after a DNS subdomain and '/'.",
                    "C3",
                )
            if not is_label_value(text(value)):
                yield _at(
                    group,
                    f"labels[{key}]",
                    f"{group.title} has the label value {value!r}, which is no Kubernetes label value.",
                    "Use at most 63 letters, digits, '-', '_' and '.', bounded by letters or digits.",
                    "C3",
                )


@rule("C5", "0 <= minReplicas <= maxReplicas", since=Version(1, 6))
def replicas(job: Job) -> Iterator[Problem]:
    """Compare the bounds of each worker group."""
    for group in job.workers:
        low, high = group.integer("minReplicas"), group.integer("maxReplicas")
        negative = [(name, n) for name, n in (("minReplicas", low), ("maxReplicas", high)) if n is not None and n < 0]
        for name, number in negative:
            yield _at(group, name, f"{group.title} has {name} {number}.", "Use 0 or more.")
        if not negative and low is not None and high is not None and low > high:
            yield _at(
                group,
                "minReplicas",
                f"{group.title} has minReplicas {low} above maxReplicas {high}.",
                "Lower minReplicas or raise maxReplicas.",
            )
