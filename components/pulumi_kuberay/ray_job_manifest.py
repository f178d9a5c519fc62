"""From typed arguments to a RayJob object: pure functions."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pulumi

from kuberay_model.versions import Version
from pulumi_kuberay.cleanup import Cleanup, cleanup_fields, deletes_itself, shut_down
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge, without_none
from pulumi_kuberay.operator_args import DEFAULT_VERSION
from pulumi_kuberay.pod_template import overlaid
from pulumi_kuberay.ray_checks import release
from pulumi_kuberay.ray_cluster_template import RayClusterTemplate, image_and_version, ray_cluster_spec
from pulumi_kuberay.ray_job_args import DEFAULT_PRE_RUNNING_DEADLINE_SECONDS, RayJobArgs
from pulumi_kuberay.rendering import rendered
from pulumi_kuberay.scheduling import ELASTIC_ANNOTATION, QUEUE_LABEL, queue_problem, scheduling_fields
from pulumi_kuberay.submission import (
    SubmissionMode,
    Submitter,
    resources_text,
    runtime_env_text,
    submitter_fields,
)

_WITH_A_MANIFEST = frozenset({"manifest", "run", "naming", "wait", "record_run", "kuberay_version", "feature_gates"})
_NEEDS_OWN_CLUSTER = ("cluster", "ray_cluster_spec", "cleanup", "scheduling", "backoff_limit")
_PRE_RUNNING_DEADLINE_SINCE = Version(1, 6)
_CLUSTER_LABEL = "ray.io/cluster"


def ray_job_manifest(name: str, args: RayJobArgs) -> dict[str, Any]:
    """Return the RayJob object that the arguments describe.

    Args:
        name: Pulumi's logical name, which is the object's name unless `job_name` says otherwise.
        args: The arguments.

    Raises:
        ArgumentError: The arguments contradict each other.
    """
    manifest: dict[str, Any] = rendered(_whole(args) if args.manifest is not None else _typed(name, args))
    _refuse_what_kueue_refuses(manifest)
    if args.manifest is None and deletes_itself(manifest["spec"]) and not args.record_run:
        raise ArgumentError(
            f"The RayJob {name!r} is deleted by KubeRay in the end (DeleteSelf), so that after a refresh the next "
            "update would run it again; set record_run, or delete the RayCluster only (DeleteCluster)."
        )
    return manifest


def questionable(manifest: Mapping[str, Any], *, record_run: bool) -> list[str]:
    """Return sentences about what works, but not as one would wish."""
    spec, name = manifest["spec"], manifest["metadata"].get("name")
    sentences = []
    if deletes_itself(spec) and not record_run:
        sentences.append(
            f"The RayJob {name!r} is deleted by KubeRay in the end (DeleteSelf): after a refresh the next update runs "
            "it again. Delete the RayCluster only (DeleteCluster), or describe the RayJob with record_run."
        )
    strategy = spec.get("deletionStrategy")
    if isinstance(strategy, Mapping) and {"onSuccess", "onFailure"} & set(strategy):
        sentences.append(
            f"The RayJob {name!r} says with onSuccess and onFailure what is deleted, which KubeRay has announced to "
            "remove; use deletion rules."
        )
    return sentences


def _whole(args: RayJobArgs) -> dict[str, Any]:
    others = [
        field.name
        for field in fields(args)
        if field.name not in _WITH_A_MANIFEST and getattr(args, field.name) is not None
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
    _refuse_contradictions(name, args, mode)
    version = release(args.kuberay_version or DEFAULT_VERSION)
    scheduling = scheduling_fields(args.scheduling)
    _refuse_unqueueable_cleanup(name, args)
    metadata = without_none(
        {
            "name": args.job_name or name,
            "namespace": args.namespace,
            "labels": {**(args.labels or {}), **scheduling.labels} or None,
            "annotations": {**(args.annotations or {}), **scheduling.annotations} or None,
        }
    )
    spec = without_none(
        {
            "entrypoint": args.entrypoint,
            "runtimeEnvYAML": runtime_env_text(args.runtime_env, args.runtime_env_yaml),
            "entrypointNumCpus": args.entrypoint_num_cpus,
            "entrypointNumGpus": args.entrypoint_num_gpus,
            "entrypointResources": resources_text(args.entrypoint_resources),
            "metadata": args.job_metadata,
            "jobId": args.job_id,
            "submissionMode": mode.value,
            **_submitter(args, mode),
            "backoffLimit": args.backoff_limit,
            "activeDeadlineSeconds": args.active_deadline_seconds,
            "preRunningDeadlineSeconds": _pre_running_deadline(args, version),
            "managedBy": args.managed_by,
            **_cluster(args),
            **(cleanup_fields(args.cleanup or shut_down(), version) if args.cluster_selector is None else {}),
            **scheduling.spec,
        }
    )
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": metadata,
        "spec": deep_merge(spec, args.extra or {}),
    }


def _refuse_contradictions(name: str, args: RayJobArgs, mode: SubmissionMode) -> None:
    if args.submitter is not None and mode is not SubmissionMode.K8S_JOB:
        raise ArgumentError(
            f"The RayJob {name!r} has a submitter, but only K8sJobMode has a submitter pod and this one has "
            f"{mode.value}; drop the submitter or change the mode."
        )
    if mode is SubmissionMode.INTERACTIVE:
        for field in ("entrypoint", "backoff_limit"):
            if getattr(args, field) not in (None, 0):
                raise ArgumentError(
                    f"The RayJob {name!r} is in InteractiveMode, where the user submits the job, but it has {field}, "
                    "which KubeRay would not use; drop it or change the mode."
                )
    if args.cluster is not None and args.ray_cluster_spec is not None:
        raise ArgumentError(
            f"The RayJob {name!r} has ray_cluster_spec, the whole RayCluster, together with cluster; put everything "
            "into one of them."
        )
    if args.cluster_selector is None:
        return
    others = [field for field in _NEEDS_OWN_CLUSTER if getattr(args, field) not in (None, 0)]
    if others:
        raise ArgumentError(
            f"The RayJob {name!r} runs on an existing RayCluster (cluster_selector), but has {', '.join(others)} too, "
            "which is for a RayCluster of its own; drop one of them."
        )
    if mode is SubmissionMode.SIDECAR:
        raise ArgumentError(
            f"The RayJob {name!r} runs on an existing RayCluster (cluster_selector), whose head has no submitter "
            "beside it, but it is in SidecarMode; use K8sJobMode or HTTPMode."
        )


def _refuse_unqueueable_cleanup(name: str, args: RayJobArgs) -> None:
    cleanup = args.cleanup or Cleanup(shut_down_after_seconds=0)
    shuts_down = cleanup.shut_down_after_seconds is not None or (
        cleanup.legacy is not None and cleanup.legacy.shut_down_after_seconds is not None
    )
    if args.scheduling is None or shuts_down:
        return
    what = "waits in a queue" if args.scheduling.queue is not None else "can be suspended"
    raise ArgumentError(
        f"The RayJob {name!r} {what}, for which KubeRay must be allowed to delete its RayCluster, but its cleanup is "
        "not shut_down; use shut_down, or drop the scheduling. KubeRay has no deletion rules for such a RayJob."
    )


def _refuse_what_kueue_refuses(manifest: Mapping[str, Any]) -> None:
    metadata = manifest["metadata"]
    queue = (metadata.get("labels") or {}).get(QUEUE_LABEL)
    elastic = (metadata.get("annotations") or {}).get(ELASTIC_ANNOTATION) == "true"
    problem = queue_problem(manifest["spec"].get("rayClusterSpec"), elastic=elastic) if queue is not None else None
    if problem is not None:
        raise ArgumentError(f"The RayJob {metadata.get('name')!r} is in a queue of Kueue, but {problem}.")


def _cluster(args: RayJobArgs) -> dict[str, Any]:
    if args.cluster_selector is not None:
        return {"clusterSelector": {_CLUSTER_LABEL: args.cluster_selector}}
    if args.ray_cluster_spec is not None:
        return {"rayClusterSpec": args.ray_cluster_spec}
    return {"rayClusterSpec": ray_cluster_spec(args.cluster or RayClusterTemplate())}


def _submitter(args: RayJobArgs, mode: SubmissionMode) -> dict[str, Any]:
    if mode is not SubmissionMode.K8S_JOB:
        return {}
    if args.cluster_selector is not None or args.ray_cluster_spec is not None:
        return submitter_fields(args.submitter or Submitter(), None, None)
    cluster = args.cluster or RayClusterTemplate()
    image, _ = image_and_version(cluster.image, cluster.ray_version)
    head = overlaid(cluster.pods, cluster.head.pod if cluster.head else None)
    of_the_head = image if head.image is None else head.image
    return submitter_fields(args.submitter or Submitter(), cluster.pods, of_the_head, always=True)


def _pre_running_deadline(args: RayJobArgs, version: Version) -> pulumi.Input[int] | None:
    known = version >= _PRE_RUNNING_DEADLINE_SINCE
    if args.pre_running_deadline_seconds is None:
        return DEFAULT_PRE_RUNNING_DEADLINE_SECONDS if known else None
    if not known:
        raise ArgumentError(
            f"pre_running_deadline_seconds is set, but KubeRay {version} does not know it and would run the RayJob "
            f"without; drop it, or use KubeRay {_PRE_RUNNING_DEADLINE_SINCE} or later."
        )
    return args.pre_running_deadline_seconds
