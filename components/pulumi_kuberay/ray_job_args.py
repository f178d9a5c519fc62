"""What can be said about a RayJob."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.cleanup import Cleanup
from pulumi_kuberay.ray_cluster_template import RayClusterTemplate
from pulumi_kuberay.run_identity import RunNaming
from pulumi_kuberay.scheduling import Scheduling
from pulumi_kuberay.submission import SubmissionMode, Submitter
from pulumi_kuberay.waiting import Wait

DEFAULT_PRE_RUNNING_DEADLINE_SECONDS = 1800


class ManagedBy(StrEnum):
    """Who runs a RayJob or a RayCluster."""

    KUBERAY = "ray.io/kuberay-operator"
    """The KubeRay operator of this cluster."""

    MULTI_KUEUE = "kueue.x-k8s.io/multikueue"
    """MultiKueue, on another cluster."""


@dataclass(kw_only=True)
class RayJobArgs:
    """A RayJob, from typed fields or as a whole object in `manifest`."""

    job_name: str | None = None
    """Name of the RayJob object: at most 47 characters (38 with a content hash), lower case, a DNS-1035 label.
    Default: the logical name."""

    namespace: pulumi.Input[str] | None = None
    """Namespace of the RayJob. Default: the provider's, which is ``default`` if not configured."""

    labels: Mapping[str, pulumi.Input[str]] | None = None
    """Labels of the RayJob. Default: none."""

    annotations: Mapping[str, pulumi.Input[str]] | None = None
    """Annotations of the RayJob. Default: none."""

    entrypoint: pulumi.Input[str] | None = None
    """Command that Ray runs, one command without ``;``, ``&&`` or ``|``. Required but in InteractiveMode, where it
    must not be set."""

    runtime_env: Mapping[str, Any] | None = None
    """Ray's runtime environment, such as ``{"pip": ["requests"]}``. Default: none."""

    runtime_env_yaml: pulumi.Input[str] | None = None
    """Ray's runtime environment as YAML text, instead of `runtime_env`. Default: none."""

    entrypoint_num_cpus: pulumi.Input[float] | None = None
    """CPUs that the entrypoint itself takes from Ray. Default: 0."""

    entrypoint_num_gpus: pulumi.Input[float] | None = None
    """GPUs that the entrypoint itself takes from Ray. Default: 0."""

    entrypoint_resources: Mapping[str, pulumi.Input[float]] | None = None
    """Ray's own resources that the entrypoint itself takes, by name. Default: none."""

    job_metadata: Mapping[str, pulumi.Input[str]] | None = None
    """What Ray's dashboard shows with the job, by key. Default: none."""

    job_id: pulumi.Input[str] | None = None
    """Id of the job in Ray. Default: KubeRay makes one per attempt, which is what retries need."""

    submission_mode: SubmissionMode | None = None
    """How the job is submitted. Default: K8sJobMode."""

    submitter: Submitter | None = None
    """The submitter, only in K8sJobMode. Default: a pod with the image of the RayCluster."""

    cluster: RayClusterTemplate | None = None
    """The RayCluster that is made for the job. Default: a head alone, of the default Ray release."""

    cluster_selector: pulumi.Input[str] | None = None
    """Name of an existing RayCluster in the namespace, on which the job runs instead of one of its own. KubeRay then
    cleans nothing up, retries nothing and does not queue the job."""

    ray_cluster_spec: Mapping[str, Any] | None = None
    """The whole spec of the RayCluster, instead of `cluster`."""

    backoff_limit: pulumi.Input[int] | None = None
    """Retries, each on a new RayCluster, 0 or more. Default: 0."""

    active_deadline_seconds: pulumi.Input[int] | None = None
    """Seconds after which a RayJob is failed, 1 or more, counted anew in each attempt. Default: none."""

    pre_running_deadline_seconds: pulumi.Input[int] | None = None
    """Seconds a RayJob may take until it runs, 1 or more. Default: 1800 from KubeRay 1.6 on, which is the first
    release that knows it."""

    cleanup: Cleanup | None = None
    """What happens to the RayCluster after the end. Default: shut down after 300 seconds."""

    scheduling: Scheduling | None = None
    """Who decides when the job may run. Default: it runs at once."""

    managed_by: ManagedBy | None = None
    """Who runs the job; it cannot be changed later. Default: the KubeRay operator."""

    run: str | None = None
    """Any text that tells one run from another: a change runs the same job again. Default: none."""

    naming: RunNaming | None = None
    """What the RayJob object is called when its run changes. Default: fixed."""

    wait: Wait | None = None
    """What ``pulumi up`` waits for. Default: nothing, it goes on when the RayJob is created."""

    record_run: bool | None = None
    """True: a ConfigMap beside the RayJob, named after it with ``-run``, records the run, so that a job whose object
    is gone is not run again when a refresh has forgotten it. The cluster is then read at each preview and update, with
    the kubeconfig of the default provider and the package kr8s. Required where KubeRay deletes the RayJob itself.
    Default: false."""

    extra: Mapping[str, Any] | None = None
    """Fields of the RayJob's spec, deep-merged over everything above; lists are replaced, null removes."""

    manifest: Mapping[str, Any] | None = None
    """A whole RayJob object, used as it stands, instead of all fields above but `run`, `naming`, `wait` and
    `record_run`."""

    kuberay_version: str | None = None
    """Release of the operator, whose rules the RayJob is checked against at preview. Default: 1.6.2."""

    feature_gates: Mapping[str, bool] | None = None
    """Feature gates of the operator that differ from the defaults of its release. Default: none."""
