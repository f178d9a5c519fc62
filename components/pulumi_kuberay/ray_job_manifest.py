"""From typed arguments to a RayJob object: pure functions."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pulumi

from pulumi_kuberay.cleanup import cleanup_fields, shut_down
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.ray_cluster import HeadGroup, ray_cluster_spec
from pulumi_kuberay.ray_job_args import DEFAULT_PRE_RUNNING_DEADLINE_SECONDS, RayJobArgs, SubmissionMode

_WITH_A_MANIFEST = frozenset({"manifest", "kuberay_version", "feature_gates"})
_CLUSTER_FIELDS = ("head", "workers", "ray_version", "image")


def ray_job_manifest(name: str, args: RayJobArgs) -> dict[str, Any]:
    """Return the RayJob object that the arguments describe.

    Args:
        name: Pulumi's logical name, which is the object's name unless `job_name` says otherwise.
        args: The arguments.

    Raises:
        ArgumentError: The arguments contradict each other.
    """
    return _whole(args) if args.manifest is not None else _typed(name, args)


def changed_by_others(manifest: Mapping[str, Any]) -> list[str]:
    """Return the property paths of a RayJob that others change after its creation."""
    cluster = manifest["spec"].get("rayClusterSpec")
    autoscaled = isinstance(cluster, Mapping) and cluster.get("enableInTreeAutoscaling")
    return ["spec.suspend", *(["spec.rayClusterSpec.workerGroupSpecs[*].replicas"] if autoscaled else [])]


def _whole(args: RayJobArgs) -> dict[str, Any]:
    others = [
        field.name for field in fields(args) if field.name != "manifest" and getattr(args, field.name) is not None
    ]
    if others:
        raise ArgumentError(
            f"A RayJob with a manifest takes nothing else, but {', '.join(others)} is set too; put it into "
            "the manifest, or describe the job without one."
        )
    manifest = dict(args.manifest or {})
    if (manifest.get("apiVersion"), manifest.get("kind")) != ("ray.io/v1", "RayJob"):
        raise ArgumentError(
            f"The manifest of a RayJob must have apiVersion ray.io/v1 and kind RayJob, but it has "
            f"{manifest.get('apiVersion')!r} and {manifest.get('kind')!r}."
        )
    if not isinstance(manifest.get("metadata"), Mapping) or not isinstance(manifest.get("spec"), Mapping):
        raise ArgumentError("The manifest of a RayJob must have the mappings metadata and spec; add what is missing.")
    return without_none({**manifest, "status": None})


def _typed(name: str, args: RayJobArgs) -> dict[str, Any]:
    mode = SubmissionMode(args.submission_mode or SubmissionMode.K8S_JOB)
    if args.submitter_pod_template is not None and mode is not SubmissionMode.K8S_JOB:
        raise ArgumentError(
            f"The RayJob {name!r} has a submitter_pod_template, but only K8sJobMode has a submitter pod and "
            f"this one has {mode.value}; drop the template or change the mode."
        )
    metadata = without_none(
        {
            "name": args.job_name or name,
            "namespace": args.namespace,
            "labels": args.labels,
            "annotations": args.annotations,
        }
    )
    spec = without_none(
        {
            "entrypoint": args.entrypoint,
            "runtimeEnvYAML": args.runtime_env_yaml,
            "submissionMode": mode.value,
            "backoffLimit": _whole_number(args.backoff_limit),
            "activeDeadlineSeconds": _whole_number(args.active_deadline_seconds),
            "preRunningDeadlineSeconds": _whole_number(
                DEFAULT_PRE_RUNNING_DEADLINE_SECONDS
                if args.pre_running_deadline_seconds is None
                else args.pre_running_deadline_seconds
            ),
            "submitterPodTemplate": args.submitter_pod_template,
            "rayClusterSpec": _cluster(name, args),
            **cleanup_fields(args.cleanup or shut_down()),
        }
    )
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": metadata,
        "spec": deep_merge(spec, args.extra or {}),
    }


def _cluster(name: str, args: RayJobArgs) -> Mapping[str, Any]:
    if args.ray_cluster_spec is None:
        return ray_cluster_spec(args.head or HeadGroup(), args.workers or (), args.ray_version, args.image)
    others = [field for field in _CLUSTER_FIELDS if getattr(args, field) is not None]
    if others:
        raise ArgumentError(
            f"The RayJob {name!r} has ray_cluster_spec, the whole RayCluster, together with "
            f"{', '.join(others)}; put everything into one of them."
        )
    return args.ray_cluster_spec


def _whole_number(value: pulumi.Input[int] | None) -> pulumi.Input[int] | None:
    return int(value) if isinstance(value, float) else value
