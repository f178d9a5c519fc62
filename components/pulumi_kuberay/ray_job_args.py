"""What can be said about a RayJob."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.cleanup import Cleanup
from pulumi_kuberay.ray_cluster import HeadGroup, WorkerGroup

DEFAULT_PRE_RUNNING_DEADLINE_SECONDS = 1800


class SubmissionMode(StrEnum):
    """How KubeRay hands the job to Ray."""

    K8S_JOB = "K8sJobMode"
    """A Kubernetes Job runs ``ray job submit``."""

    HTTP = "HTTPMode"
    """The operator sends one HTTP request."""

    SIDECAR = "SidecarMode"
    """A container beside the head runs ``ray job submit``."""

    INTERACTIVE = "InteractiveMode"
    """The user submits the job and tells KubeRay its id."""


@dataclass(kw_only=True)
class RayJobArgs:
    """A RayJob, from typed fields or as a whole object in `manifest`."""

    job_name: str | None = None
    """Name of the RayJob object: at most 47 characters, lower case, a DNS-1035 label. Default: the logical
    name."""

    namespace: pulumi.Input[str] | None = None
    """Namespace of the RayJob. Default: the provider's, which is ``default`` if not configured."""

    labels: Mapping[str, pulumi.Input[str]] | None = None
    """Labels of the RayJob. Default: none."""

    annotations: Mapping[str, pulumi.Input[str]] | None = None
    """Annotations of the RayJob. Default: none."""

    entrypoint: pulumi.Input[str] | None = None
    """Command that Ray runs, one command without ``;``, ``&&`` or ``|``. Required but in InteractiveMode."""

    runtime_env_yaml: pulumi.Input[str] | None = None
    """Ray's runtime environment, as YAML text. Default: none."""

    submission_mode: SubmissionMode | None = None
    """How the job is submitted. Default: K8sJobMode."""

    ray_cluster_spec: Mapping[str, Any] | None = None
    """The whole spec of the RayCluster, instead of `head`, `workers`, `ray_version` and `image`."""

    head: HeadGroup | None = None
    """The head pod. Default: 1 CPU and 4Gi of memory."""

    workers: Sequence[WorkerGroup] | None = None
    """Worker groups. Default: none, the job runs on the head."""

    ray_version: pulumi.Input[str] | None = None
    """Ray release that the image contains. Default: 2.52.0."""

    image: pulumi.Input[str] | None = None
    """Ray image of all pods. Default: ``rayproject/ray`` of `ray_version`."""

    submitter_pod_template: Mapping[str, Any] | None = None
    """Pod template of the submitter; only in K8sJobMode. Default: KubeRay's own."""

    backoff_limit: pulumi.Input[int] | None = None
    """Retries, each on a new RayCluster, 0 or more. Default: 0."""

    active_deadline_seconds: pulumi.Input[int] | None = None
    """Seconds after which a RayJob is failed, 1 or more, counted anew in each attempt. Default: none."""

    pre_running_deadline_seconds: pulumi.Input[int] | None = None
    """Seconds a RayJob may take until it runs, 1 or more; for KubeRay 1.6 and later. Default: 1800."""

    cleanup: Cleanup | None = None
    """What happens to the RayCluster after the end. Default: shut down after 300 seconds."""

    extra: Mapping[str, Any] | None = None
    """Fields of the RayJob's spec, deep-merged over everything above; lists are replaced, null removes."""

    manifest: Mapping[str, Any] | None = None
    """A whole RayJob object, used as it stands; only the two fields below may be set with it."""

    kuberay_version: str | None = None
    """Release of the operator, whose rules the RayJob is checked against at preview. Default: 1.6.2."""

    feature_gates: Mapping[str, bool] | None = None
    """Feature gates of the operator that differ from the defaults of its release. Default: none."""
