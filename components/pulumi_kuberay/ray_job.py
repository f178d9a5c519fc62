"""The component that runs a RayJob."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.ray_job_args import RayJobArgs
from pulumi_kuberay.ray_job_manifest import ray_job_manifest

_CHANGED_BY_OTHERS = ["spec.suspend", "spec.rayClusterSpec.workerGroupSpecs[*].replicas"]


class RayJob(pulumi.ComponentResource):
    """A RayJob: one run of one command on its own RayCluster.

    KubeRay ignores an edit of a job that runs or has finished, so a change of the spec replaces the object:
    the old one is deleted first, because both have one name. ``spec.suspend``, which Kueue switches, and the
    replicas of worker groups, which the Ray autoscaler changes, are not touched after the creation.

    Let it depend on the operator and on what its pods need: KubeRay's finalizer is only removed by a live
    operator.
    """

    job_name: pulumi.Output[str]
    """Name of the RayJob object."""

    namespace: pulumi.Output[str]
    """Namespace of the RayJob object."""

    def __init__(self, name: str, args: RayJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the job.

        Args:
            name: Pulumi's logical name of the component.
            args: The job.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: The arguments cannot work together, or KubeRay would refuse the object.
        """
        super().__init__("kuberay:index:RayJob", name, {}, opts)
        job = KubernetesObject(
            name,
            ray_job_manifest(name, args),
            pulumi.ResourceOptions(
                parent=self,
                replace_on_changes=["spec"],
                delete_before_replace=True,
                ignore_changes=_CHANGED_BY_OTHERS,
            ),
        )
        self.job_name = job.metadata.apply(lambda metadata: str(metadata["name"]))
        self.namespace = job.metadata.apply(lambda metadata: str(metadata.get("namespace", "default")))
        self.register_outputs({"jobName": self.job_name, "namespace": self.namespace})

    @classmethod
    def from_manifest(
        cls, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> "RayJob":
        """Declare a job from a RayJob object of one's own, used as it stands.

        Args:
            name: Pulumi's logical name of the component.
            manifest: The object, with ``metadata.name`` and a spec; a ``status`` is dropped.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: The object is no RayJob, or KubeRay would refuse it.
        """
        return cls(name, RayJobArgs(manifest=manifest), opts)
