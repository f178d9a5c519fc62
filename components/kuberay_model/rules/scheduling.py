"""Rules on suspension and on the RayCluster a RayJob runs on: its own, or an existing one."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.registry import Layer, Problem, rule
from kuberay_model.rules.values import mapping, text
from kuberay_model.versions import Version

CLUSTER_LABEL = "ray.io/cluster"


@rule("J3", "A suspended RayJob has shutdownAfterJobFinishes")
def suspend_without_shutdown(job: Job) -> Iterator[Problem]:
    """Suspension deletes the RayCluster, so the RayJob must allow that."""
    if job.suspend and not job.shutdown:
        yield Problem(
            "spec.suspend",
            "suspend is true, but shutdownAfterJobFinishes is false.",
            "Set shutdownAfterJobFinishes: true.",
        )


@rule("J20", "A RayJob with clusterSelector is not suspended")
def suspend_on_selected_cluster(job: Job) -> Iterator[Problem]:
    """The operator cannot take away a RayCluster it has not made."""
    if job.suspend and job.selector:
        yield Problem(
            "spec.suspend",
            "suspend is true, but a RayJob with clusterSelector cannot be suspended.",
            "Remove suspend, or give the RayJob a rayClusterSpec instead of clusterSelector.",
        )


@rule("J21", "One of rayClusterSpec and clusterSelector is set")
def no_cluster(job: Job) -> Iterator[Problem]:
    """There must be something to run on."""
    if not job.has_cluster and not job.selector:
        yield Problem(
            "spec",
            "Neither rayClusterSpec nor clusterSelector is set, so there is nothing to run on.",
            f"Add rayClusterSpec, or clusterSelector with the key {CLUSTER_LABEL}.",
        )


@rule("J22", f"clusterSelector names the RayCluster with {CLUSTER_LABEL}")
def selector_without_name(job: Job) -> Iterator[Problem]:
    """Other labels are not looked at."""
    if job.selector and not text(job.selector.get(CLUSTER_LABEL)):
        yield Problem(
            "spec.clusterSelector",
            f"clusterSelector has no {CLUSTER_LABEL} with the name of a RayCluster.",
            f"Add {CLUSTER_LABEL}: <name of the RayCluster>; other labels are ignored.",
        )


@rule("J23", "A RayJob with clusterSelector is not in SidecarMode")
def selector_in_sidecar_mode(job: Job) -> Iterator[Problem]:
    """The sidecar is added to the head Pod when the RayCluster is created."""
    if job.selector and job.mode == "SidecarMode":
        yield Problem(
            "spec.submissionMode",
            "SidecarMode adds the submitter to the head Pod, which clusterSelector does not allow.",
            "Use K8sJobMode or HTTPMode.",
        )


@rule("J24", "A RayJob with clusterSelector has no retries", since=Version(1, 6))
def selector_with_retries(job: Job) -> Iterator[Problem]:
    """Each retry creates a new RayCluster."""
    if job.selector and job.backoff_limit > 0:
        yield Problem(
            "spec.backoffLimit",
            f"backoffLimit is {job.backoff_limit}, but clusterSelector leaves no new RayCluster to retry on.",
            "Set backoffLimit: 0, or give the RayJob a rayClusterSpec.",
        )


@rule(
    "C25",
    "The rayClusterSpec of a RayJob has no upgradeStrategy",
    layer=Layer.RAY_CLUSTER,
    since=Version(1, 6),
    note="Only the RayCluster controller checks it, so the RayJob hangs in Initializing (kuberay#4974).",
    aliases=("U14",),
)
def upgrade_strategy(job: Job) -> Iterator[Problem]:
    """A RayCluster made by a RayJob is never upgraded; with clusterSelector none is made."""
    if not job.selector and "type" in mapping(job.cluster.get("upgradeStrategy")):
        yield Problem(
            "spec.rayClusterSpec.upgradeStrategy.type",
            "The RayCluster of a RayJob cannot have an upgradeStrategy: it is refused with an event only, "
            "and the RayJob stays Initializing.",
            "Remove upgradeStrategy.",
        )
