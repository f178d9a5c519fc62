"""The component that runs a RayCluster."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.operator_args import DEFAULT_VERSION
from pulumi_kuberay.outputs import has_outputs
from pulumi_kuberay.ray_checks import ray_cluster_findings
from pulumi_kuberay.ray_cluster_template import RayClusterTemplate, ray_cluster_spec
from pulumi_kuberay.ray_job_args import ManagedBy
from pulumi_kuberay.rendering import rendered
from pulumi_kuberay.scheduling import ELASTIC_ANNOTATION, QUEUE_LABEL, Scheduling, queue_problem, scheduling_fields

NAME_LENGTH = 53
"""Longest name of a RayCluster, from which KubeRay makes names of Services and pods."""

_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


class UpgradeStrategy(StrEnum):
    """What happens to running pods when the spec of a RayCluster is edited."""

    RECREATE = "Recreate"
    """All pods are deleted and made anew, and what runs on them is lost. Needs KubeRay 1.6."""

    NONE = "None"
    """They stay as they are; the edit holds for pods that are made later."""


@dataclass(kw_only=True)
class RayClusterArgs:
    """A RayCluster, from typed fields."""

    cluster_name: str | None = None
    """Name of the RayCluster object: at most 53 characters, lower case, a DNS-1035 label. Default: the logical
    name."""

    namespace: pulumi.Input[str] | None = None
    """Namespace of the RayCluster. Default: the provider's, which is ``default`` if not configured."""

    labels: Mapping[str, pulumi.Input[str]] | None = None
    """Labels of the RayCluster. Default: none."""

    annotations: Mapping[str, pulumi.Input[str]] | None = None
    """Annotations of the RayCluster. Default: none."""

    cluster: RayClusterTemplate | None = None
    """The RayCluster. Default: a head alone, of the default Ray release."""

    ray_cluster_spec: Mapping[str, Any] | None = None
    """The whole spec of the RayCluster, instead of `cluster`."""

    scheduling: Scheduling | None = None
    """Who decides when the RayCluster may have its pods. Default: it has them at once."""

    upgrade_strategy: UpgradeStrategy | None = None
    """What happens to running pods when the spec is edited. Default: they stay as they are."""

    managed_by: ManagedBy | None = None
    """Who runs the RayCluster; it cannot be changed later. Default: the KubeRay operator."""

    extra: Mapping[str, Any] | None = None
    """Fields of the RayCluster's spec, deep-merged over everything above; lists are replaced, null removes."""

    kuberay_version: str | None = None
    """Release of the operator, whose rules the RayCluster is checked against at preview. Default: 1.6.2."""

    feature_gates: Mapping[str, bool] | None = None
    """Feature gates of the operator that differ from the defaults of its release. Default: none."""


class RayCluster(pulumi.ComponentResource):
    """A RayCluster that stays until it is deleted, for jobs that select it and for people who connect to it.

    Edits are made in place. Replicas of autoscaled worker groups belong to the Ray autoscaler and ``spec.suspend`` of
    a queued RayCluster to Kueue; both are left alone.

    Let it depend on the operator: a RayCluster with fault tolerance has a finalizer that only a live operator removes.
    """

    cluster_name: pulumi.Output[str]
    """Name of the RayCluster object, for the `cluster_selector` of a RayJob."""

    namespace: pulumi.Output[str]
    """Namespace of the RayCluster object."""

    head_service: pulumi.Output[str]
    """Name of the head's Service, with Ray's client on port 10001 and the dashboard on port 8265."""

    def __init__(self, name: str, args: RayClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the RayCluster.

        Args:
            name: Pulumi's logical name of the component.
            args: The RayCluster.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: The arguments contradict each other, or the RayCluster cannot work on KubeRay.
        """
        super().__init__("kuberay:index:RayCluster", name, {}, opts)
        manifest = ray_cluster_manifest(name, args)
        cluster = KubernetesObject(
            name,
            self._checked(manifest, args),
            pulumi.ResourceOptions(
                parent=self,
                delete_before_replace=True,
                ignore_changes=[] if "suspend" in manifest["spec"] else ["spec.suspend"],
            ),
        )
        self.cluster_name = cluster.metadata.apply(lambda metadata: str(metadata["name"]))
        self.namespace = cluster.metadata.apply(lambda metadata: str(metadata.get("namespace", "default")))
        self.head_service = self.cluster_name.apply(lambda known: f"{known}-head-svc")
        self.register_outputs(
            {"clusterName": self.cluster_name, "namespace": self.namespace, "headService": self.head_service}
        )

    def _checked(self, manifest: Mapping[str, Any], args: RayClusterArgs) -> Mapping[str, Any]:
        def check(known: Mapping[str, Any]) -> Mapping[str, Any]:
            version, gates = args.kuberay_version or DEFAULT_VERSION, args.feature_gates or {}
            for finding in ray_cluster_findings(known, version, gates):
                pulumi.log.warn(finding, self)
            return known

        if not has_outputs(manifest):
            return check(manifest)
        spec = pulumi.Output.from_input(manifest).apply(lambda known: without_none(check(known)["spec"]))
        return {**manifest, "spec": spec}


def ray_cluster_manifest(name: str, args: RayClusterArgs) -> dict[str, Any]:
    """Return the RayCluster object that the arguments describe.

    Args:
        name: Pulumi's logical name, which is the object's name unless `cluster_name` says otherwise.
        args: The arguments.

    Raises:
        ArgumentError: The arguments contradict each other.
    """
    if args.cluster is not None and args.ray_cluster_spec is not None:
        raise ArgumentError(
            f"The RayCluster {name!r} has ray_cluster_spec, its whole spec, together with cluster; put everything into "
            "one of them."
        )
    scheduling = scheduling_fields(args.scheduling)
    metadata = without_none(
        {
            "name": _name(args.cluster_name or name),
            "namespace": args.namespace,
            "labels": {**(args.labels or {}), **scheduling.labels} or None,
            "annotations": {**(args.annotations or {}), **scheduling.annotations} or None,
        }
    )
    own = without_none(
        {
            "managedBy": args.managed_by,
            "upgradeStrategy": {"type": args.upgrade_strategy} if args.upgrade_strategy else None,
            **scheduling.spec,
        }
    )
    spec = args.ray_cluster_spec or ray_cluster_spec(args.cluster or RayClusterTemplate())
    manifest: dict[str, Any] = rendered(
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayCluster",
            "metadata": metadata,
            "spec": deep_merge({**spec, **own}, args.extra or {}),
        }
    )
    _refuse_what_kueue_refuses(manifest)
    return manifest


def _name(name: str) -> str:
    if len(name) > NAME_LENGTH or not _DNS_1035.fullmatch(name):
        raise ArgumentError(
            f"The name of a RayCluster must be at most {NAME_LENGTH} lower-case letters, digits and '-', beginning "
            f"with a letter and not ending with '-', but {name!r} has {len(name)} characters; set cluster_name."
        )
    return name


def _refuse_what_kueue_refuses(manifest: Mapping[str, Any]) -> None:
    metadata = manifest["metadata"]
    if QUEUE_LABEL not in (metadata.get("labels") or {}):
        return
    elastic = (metadata.get("annotations") or {}).get(ELASTIC_ANNOTATION) == "true"
    problem = queue_problem(manifest["spec"], elastic=elastic)
    if problem is not None:
        raise ArgumentError(f"The RayCluster {metadata['name']!r} is in a queue of Kueue, but {problem}.")
