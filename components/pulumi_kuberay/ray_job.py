"""The component that runs a RayJob."""

from collections.abc import Mapping
from typing import Any

import pulumi

from kuberay_model.outcome import Kind
from pulumi_kuberay.merging import without_none
from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.operator_args import DEFAULT_VERSION
from pulumi_kuberay.outputs import has_outputs
from pulumi_kuberay.ray_checks import ray_job_findings
from pulumi_kuberay.ray_job_args import RayJobArgs
from pulumi_kuberay.ray_job_manifest import questionable, ray_job_manifest
from pulumi_kuberay.run_identity import RunNaming, content_hash, left_alone, run_name
from pulumi_kuberay.run_record import record_name, record_object, recorded
from pulumi_kuberay.waiting import judged, wait_annotations, wait_timeouts


class _RayJobObject(KubernetesObject):
    spec: pulumi.Output[Mapping[str, Any]]


class RayJob(pulumi.ComponentResource):
    """A RayJob: one run of one command on its own RayCluster or on an existing one.

    KubeRay reads most of the spec once, when a run begins. An edit of that is a new run: the object is replaced, by
    default the old one first, because both have one name. Deadlines, retries and cleanup are read at every reconcile,
    so edits of them are made in place and run nothing again.

    What others change in the object is left alone: Kueue suspends and places the pods, people scale a run by hand.
    Neither a refresh nor a later update undoes that, and neither runs the job again.

    Let it depend on the operator and on what its pods need: KubeRay's finalizer is only removed by a live
    operator.
    """

    job_name: pulumi.Output[str]
    """Name of the RayJob object."""

    namespace: pulumi.Output[str]
    """Namespace of the RayJob object."""

    outcome: pulumi.Output[str]
    """How the job stood when Pulumi last looked: ``Succeeded`` or ``Failed`` after a wait, else mostly ``New``. What
    uses this output comes after the wait, and not at all when the job has failed."""

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
        checked, identity = self._checked(manifest, args)
        if args.record_run:
            self._recorded(name, manifest, checked, identity, args)
        else:
            self._declared(name, manifest, checked, identity, args)
        self.register_outputs({"jobName": self.job_name, "namespace": self.namespace, "outcome": self.outcome})

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

    def _declared(
        self,
        name: str,
        manifest: Mapping[str, Any],
        checked: Mapping[str, Any],
        identity: pulumi.Input[str],
        args: RayJobArgs,
    ) -> KubernetesObject:
        hashed = (args.naming or RunNaming.FIXED) == RunNaming.CONTENT_HASH
        job = _RayJobObject(
            name,
            annotated(checked, wait_annotations(args.wait)),
            pulumi.ResourceOptions(
                parent=self,
                replacement_trigger=None if hashed else identity,
                delete_before_replace=not hashed,
                ignore_changes=left_alone(manifest),
                custom_timeouts=wait_timeouts(args.wait),
            ),
        )
        self.job_name = job.metadata.apply(lambda metadata: str(metadata["name"]))
        self.namespace = job.metadata.apply(lambda metadata: str(metadata.get("namespace", "default")))
        # `Output.all` would make an output of every value in the spec, which is most of the time of a large stack.
        self.outcome = job.metadata.apply(
            lambda metadata: job.spec.apply(
                lambda spec: job.status.apply(
                    lambda status: judged({"metadata": metadata, "spec": spec, "status": status}, args.wait)
                )
            )
        )
        return job

    def _recorded(
        self,
        name: str,
        manifest: Mapping[str, Any],
        checked: Mapping[str, Any],
        identity: pulumi.Input[str],
        args: RayJobArgs,
    ) -> None:
        """Declare the job and the record of its run, or the record alone if the run is over and its object gone."""
        options = pulumi.ResourceOptions(parent=self)
        if recorded(checked).is_over(str(identity)):
            metadata = checked["metadata"]
            pulumi.log.info(f"The RayJob {metadata['name']} has run and is gone; change run to run it again.", self)
            self.job_name = pulumi.Output.from_input(str(metadata["name"]))
            self.namespace = pulumi.Output.from_input(str(metadata["namespace"]))
            self.outcome = pulumi.Output.from_input(Kind.UNKNOWN.value)
        else:
            options.depends_on = [self._declared(name, manifest, checked, identity, args)]
        KubernetesObject(record_name(name), record_object(checked["metadata"], str(identity)), options)

    def _checked(self, manifest: Mapping[str, Any], args: RayJobArgs) -> tuple[Mapping[str, Any], pulumi.Input[str]]:
        """Return the object to apply and the identity of its run."""

        def check(known: Mapping[str, Any]) -> Mapping[str, Any]:
            identity = content_hash(known, args.run)
            named = run_name(known, identity, args.naming)
            found = ray_job_findings(named, args.kuberay_version or DEFAULT_VERSION, args.feature_gates or {})
            for sentence in (*found, *questionable(named, record_run=bool(args.record_run))):
                pulumi.log.warn(sentence, self)
            return {"name": named["metadata"].get("name"), "spec": without_none(named["spec"]), "identity": identity}

        if not has_outputs(manifest):
            known = check(manifest)
            metadata = without_none({**manifest["metadata"], "name": known["name"]})
            return {**manifest, "metadata": metadata}, str(known["identity"])
        later = pulumi.Output.from_input(manifest).apply(check)
        metadata = {**manifest["metadata"], "name": later.apply(lambda known: known["name"])}
        spec = later.apply(lambda known: known["spec"])
        return {**manifest, "metadata": metadata, "spec": spec}, later.apply(lambda known: str(known["identity"]))


def annotated(manifest: Mapping[str, Any], annotations: Mapping[str, str]) -> Mapping[str, Any]:
    """Return an object with more annotations."""
    if not annotations:
        return manifest
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}
