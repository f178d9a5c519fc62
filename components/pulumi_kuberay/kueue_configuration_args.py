"""What the controller of Kueue 0.19 can be told, as its API config.kueue.x-k8s.io/v1beta2 has it.

Everything is optional, and what is unset keeps the value of the chart's own configuration, or of Kueue without
one there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pulumi_kuberay.label_selectors import LabelSelector
from pulumi_kuberay.rendering import FIELD


class KueueFramework(StrEnum):
    """A kind of jobs that Kueue can manage."""

    JOB = "batch/job"
    RAY_JOB = "ray.io/rayjob"
    RAY_CLUSTER = "ray.io/raycluster"
    RAY_SERVICE = "ray.io/rayservice"
    JOB_SET = "jobset.x-k8s.io/jobset"
    MPI_JOB = "kubeflow.org/mpijob"
    PADDLE_JOB = "kubeflow.org/paddlejob"
    PYTORCH_JOB = "kubeflow.org/pytorchjob"
    TF_JOB = "kubeflow.org/tfjob"
    XGBOOST_JOB = "kubeflow.org/xgboostjob"
    JAX_JOB = "kubeflow.org/jaxjob"
    TRAIN_JOB = "trainer.kubeflow.org/trainjob"
    APP_WRAPPER = "workload.codeflare.dev/appwrapper"
    SPARK_APPLICATION = "sparkoperator.k8s.io/sparkapplication"
    POD = "pod"
    DEPLOYMENT = "deployment"
    STATEFUL_SET = "statefulset"
    LEADER_WORKER_SET = "leaderworkerset.x-k8s.io/leaderworkerset"


@dataclass(kw_only=True)
class Integrations:
    """Which kinds of jobs Kueue manages."""

    frameworks: Sequence[KueueFramework] | None = None
    """Kinds to manage. The list replaces the chart's. Its webhooks stay whatever the list says; but without
    ``pod``, ``deployment`` or ``statefulset`` such objects can be created while Kueue is down. Default: the
    chart's, which has Job, JobSet, MPIJob, TrainJob, AppWrapper, the three of Ray, Pod, Deployment, StatefulSet and
    LeaderWorkerSet."""

    external_frameworks: Sequence[str] | None = None
    """Kinds that other controllers manage for Kueue, as ``Kind.version.group.com``. Default: none."""

    label_keys_to_copy: Sequence[str] | None = None
    """Keys of labels that are copied from a job to its Workload when that is created. Default: none."""


class RequeuingTimestamp(StrEnum):
    """Which time orders workloads that were evicted because their pods were not ready."""

    EVICTION = "Eviction"
    CREATION = "Creation"


@dataclass(kw_only=True)
class RequeuingStrategy:
    """How a workload is queued again after its pods were not ready in time."""

    timestamp: RequeuingTimestamp | None = None
    """``Eviction`` or ``Creation``. Default: Eviction."""

    backoff_limit_count: int | None = None
    """Times that it is queued again before it is deactivated, 0 or more. Default: no limit."""

    backoff_base_seconds: int | None = None
    """Seconds of the first back-off, which doubles each time. Default: 60."""

    backoff_max_seconds: int | None = None
    """Longest back-off, in seconds. Default: 3600."""


@dataclass(kw_only=True)
class WaitForPodsReady:
    """Eviction of workloads whose pods do not all become ready: all or nothing, after some time.

    Kueue 0.19 does this even when it is not configured, with its defaults, unless the feature gate
    DisableWaitForPodsReady is on.
    """

    timeout_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds from admission until all pods must be ready, 1 or more. Default: 1800."""

    recovery_timeout_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds for a pod that failed later to be replaced; 0 is for ever. Default: `timeout_seconds`."""

    block_admission: bool | None = None
    """Admit the next workload only when all pods of the last are ready. Default: false."""

    requeuing_strategy: RequeuingStrategy | None = None
    """How an evicted workload is queued again. Default: with a back-off of 60 to 3600 seconds, for ever."""


class SharePreemption(StrEnum):
    """When fair sharing may preempt a workload."""

    LESS_THAN_OR_EQUAL_TO_FINAL_SHARE = "LessThanOrEqualToFinalShare"
    LESS_THAN_INITIAL_SHARE = "LessThanInitialShare"


@dataclass(kw_only=True)
class FairSharingPolicy:
    """Sharing of what a cohort does not use by the weights of its queues. Its presence turns it on."""

    preemption_strategies: Sequence[SharePreemption]
    """One of the two, or both with ``LessThanOrEqualToFinalShare`` first."""


@dataclass(kw_only=True)
class AdmissionFairSharing:
    """Order of admission by what a LocalQueue has used. Its presence turns it on for queues that ask for it."""

    usage_half_life_seconds: int = field(metadata={FIELD: None})
    """Seconds after which past use counts half; 0 forgets it at once."""

    usage_sampling_interval_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds between updates of the use, 1 or more. Default: 300."""

    resource_weights: Mapping[str, float] | None = None
    """Weight of each resource, 0 or more. Default: 1."""


class TransformationStrategy(StrEnum):
    """What happens to a resource that is counted as others."""

    RETAIN = "Retain"
    REPLACE = "Replace"


@dataclass(kw_only=True)
class ResourceTransformation:
    """How one resource of pods is counted in quotas."""

    input: str
    """Resource that pods ask for."""

    strategy: TransformationStrategy | None = None
    """``Retain``: it is counted as well. ``Replace``: only the outputs are; without any it is ignored. Default:
    Retain."""

    multiply_by: str | None = None
    """Resource whose requested amount multiplies the outputs. Default: none."""

    outputs: Mapping[str, str] | None = None
    """Quantities by resource for one unit of the input. Default: none."""


class QuotaCheck(StrEnum):
    """Which resources of a workload need quota."""

    BLOCK_UNDECLARED = "BlockUndeclared"
    IGNORE_UNDECLARED = "IgnoreUndeclared"


@dataclass(kw_only=True)
class ResourceHandling:
    """How resources of pods are counted."""

    exclude_resource_prefixes: Sequence[str] | None = None
    """Prefixes of names of resources that need no quota. Not with ``IgnoreUndeclared``. Default: none."""

    quota_check_strategy: QuotaCheck | None = None
    """Whether resources that a ClusterQueue does not cover keep workloads out (``BlockUndeclared``) or are
    ignored (``IgnoreUndeclared``); needs the feature gate QuotaCheckStrategy. Default: they keep them out."""

    transformations: Sequence[ResourceTransformation] | None = None
    """Resources that are counted as others. Default: none."""

    device_class_mappings: Sequence[Mapping[str, Any]] | None = None
    """Device classes of dynamic resource allocation that are counted as resources, as Kueue reads them. Default:
    none."""


@dataclass(kw_only=True)
class WorkloadRetention:
    """When Kueue deletes Workload objects. Unset is never."""

    after_finished_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds after a workload finished; 0 is at once. Default: never."""

    after_deactivated_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds after Kueue deactivated a workload; its job goes with it. Default: never."""


@dataclass(kw_only=True)
class InternalCertManagement:
    """Certificates of the webhooks that Kueue signs itself."""

    enable: bool | None = None
    """Whether it does. Default: true, and false with the chart's cert-manager."""

    webhook_service_name: str | None = None
    """Name of the webhooks' Service. Default: the chart's."""

    webhook_secret_name: str | None = None
    """Name of the Secret with the certificates. Default: the chart's."""


@dataclass(kw_only=True)
class ClientConnection:
    """Kueue's client of the API server."""

    qps: float | None = None
    """Requests in a second; below 0 is no limit. Default: 300."""

    burst: int | None = None
    """Requests at once. Default: 500."""


@dataclass(kw_only=True)
class LeaderElection:
    """Election of one active pod of Kueue."""

    leader_elect: bool | None = None
    """Whether one is elected. Default: true."""

    lease_duration_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds after which another pod takes over. Default: 15."""

    renew_deadline_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds within which the leader renews; less than the lease. Default: 10."""

    retry_period_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds between tries; less than the renewal. Default: 2."""

    resource_name: str | None = None
    """Name of the Lease. Default: c1f6bfd2.kueue.x-k8s.io."""


@dataclass(kw_only=True)
class KueueMetrics:
    """Metrics of Kueue."""

    bind_address: str | None = None
    """Address of the metrics; ``0`` turns them off. Default: :8443."""

    enable_cluster_queue_resources: bool | None = None
    """Report quotas and their use for each ClusterQueue. Default: false."""

    local_queue_metrics: bool | None = field(default=None, metadata={FIELD: None})
    """Report metrics of LocalQueues. Default: true."""


@dataclass(kw_only=True)
class MultiKueue:
    """Dispatching of workloads to other clusters."""

    gc_interval_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds between clean-ups; 0 is never. Default: 60."""

    origin: str | None = None
    """Label value that marks what this cluster created in others. Default: multikueue."""

    worker_lost_timeout_seconds: int | None = field(default=None, metadata={FIELD: None})
    """Seconds that a workload stays with a cluster which cannot be reached. Default: 900."""

    dispatcher_name: str | None = None
    """Who chooses clusters. Default: kueue.x-k8s.io/multikueue-dispatcher-all-at-once."""


@dataclass(kw_only=True)
class KueueConfiguration:
    """The configuration of Kueue's controller, laid over the one of the chart."""

    manage_jobs_without_queue_name: bool | None = None
    """Suspend jobs that name no queue, too. Default: false."""

    managed_jobs_namespace_selector: LabelSelector | None = None
    """Namespaces in which jobs without a queue are managed, and pods at all; it must leave out kube-system and
    Kueue's own. Default: all but those."""

    integrations: Integrations | None = None
    """Kinds of jobs."""

    wait_for_pods_ready: WaitForPodsReady | None = None
    """Eviction of workloads whose pods do not become ready."""

    fair_sharing: FairSharingPolicy | None = None
    """Sharing by weights. Default: off."""

    admission_fair_sharing: AdmissionFairSharing | None = None
    """Order by past use. Default: off."""

    resources: ResourceHandling | None = None
    """How resources are counted."""

    object_retention: WorkloadRetention | None = field(default=None, metadata={FIELD: None})
    """When Workload objects are deleted. Default: with their jobs."""

    internal_cert_management: InternalCertManagement | None = None
    """Certificates that Kueue signs itself."""

    client_connection: ClientConnection | None = None
    """Limits of its client."""

    leader_election: LeaderElection | None = None
    """Election of one active pod."""

    group_kind_concurrency: Mapping[str, int] | None = field(default=None, metadata={FIELD: None})
    """Objects that are reconciled at the same time, by ``Kind.group``. Default: the chart's."""

    metrics: KueueMetrics | None = None
    """Metrics."""

    multi_kueue: MultiKueue | None = None
    """Dispatching to other clusters."""

    health_probe_bind_address: str | None = field(default=None, metadata={FIELD: None})
    """Address of the probes. Default: :8081."""

    webhook_port: int | None = field(default=None, metadata={FIELD: None})
    """Port of the webhooks in the pod. Default: 9443."""

    pprof_bind_address: str | None = None
    """Address of Go's profiler. Default: off."""

    extra: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Fields merged over everything above; lists are replaced, null removes. Default: none."""
