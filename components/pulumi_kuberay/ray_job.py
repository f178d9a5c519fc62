"""The component that runs a RayJob."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.operator_args import DEFAULT_VERSION
from pulumi_kuberay.ray_job_args import RayJobArgs
from pulumi_kuberay.ray_job_check import findings, has_outputs
from pulumi_kuberay.ray_job_manifest import changed_by_others, ray_job_manifest


class RayJob(pulumi.ComponentResource):
    """A RayJob: one run of one command on its own RayCluster.

    KubeRay ignores an edit of a job that runs or has finished, so a change of the spec replaces the object:
    the old one is deleted first, because both have one name. Two things are left alone after the creation,
    because others change them: ``spec.suspend``, which is Kueue's switch, and, where the Ray autoscaler is
    on, the replicas of worker groups.

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
            ArgumentError: The arguments contradict each other, or the job cannot work on KubeRay.
        """
        super().__init__("kuberay:index:RayJob", name, {}, opts)
        manifest = ray_job_manifest(name, args)
        job = KubernetesObject(
            name,
            self._checked(manifest, args),
            pulumi.ResourceOptions(
                parent=self,
                replace_on_changes=["spec"],
                delete_before_replace=True,
                ignore_changes=changed_by_others(manifest),
            ),
        )
        self.job_name = job.metadata.apply(lambda metadata: str(metadata["name"]))
        self.namespace = job.metadata.apply(lambda metadata: str(metadata.get("namespace", "default")))
        self.register_outputs({"jobName": self.job_name, "namespace": self.namespace})

    @classmethod
    def from_manifest(
        cls,
        name: str,
        manifest: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
        *,
        kuberay_version: str | None = None,
        feature_gates: Mapping[str, bool] | None = None,
    ) -> "RayJob":
        """Declare a job from a RayJob object of one's own, used as it stands.

        Args:
            name: Pulumi's logical name of the component.
            manifest: The object, with ``metadata.name`` and a spec; a ``status`` is dropped.
            opts: Pulumi's resource options.
            kuberay_version: Release of the operator. Default 1.6.2.
            feature_gates: Feature gates of the operator that differ from the defaults of its release.

        Raises:
            ArgumentError: The object is no RayJob, or cannot work on KubeRay.
        """
        args = RayJobArgs(manifest=manifest, kuberay_version=kuberay_version, feature_gates=feature_gates)
        return cls(name, args, opts)

    def _checked(self, manifest: Mapping[str, Any], args: RayJobArgs) -> Mapping[str, Any]:
        def check(known: Mapping[str, Any]) -> Mapping[str, Any]:
            for finding in findings(known, args.kuberay_version or DEFAULT_VERSION, args.feature_gates or {}):
                pulumi.log.warn(str(finding), self)
            return known

        if not has_outputs(manifest):
            return check(manifest)
        spec = pulumi.Output.from_input(manifest).apply(lambda known: check(known)["spec"])
        return {**manifest, "spec": spec}
