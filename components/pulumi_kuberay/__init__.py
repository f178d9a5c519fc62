"""Typed Pulumi components that put KubeRay on a Kubernetes cluster."""

from pulumi_kuberay.cleanup import (
    Cleanup,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    LegacyDeletion,
    deletion_rules,
    keep,
    legacy,
    shut_down,
)
from pulumi_kuberay.containers import Probe, PullPolicy, ResourceRequirements, ServiceType
from pulumi_kuberay.crds import KubeRayCrds, KubeRayCrdsArgs
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.kuberay_operator import KubeRayOperator
from pulumi_kuberay.kueue import Kueue
from pulumi_kuberay.kueue_args import (
    CertManager,
    KueueArgs,
    KueueImage,
    MetricsService,
    Prometheus,
    ReinvocationPolicy,
    WebhookService,
)
from pulumi_kuberay.kueue_cluster_queue import ClusterQueue
from pulumi_kuberay.kueue_cluster_queue_args import (
    AdmissionCheck,
    AdmissionMode,
    BorrowingPreemption,
    BorrowWithinCohort,
    ClusterQueueArgs,
    CohortPreemption,
    ConcurrentAdmission,
    FlavorFungibility,
    FlavorPreference,
    FlavorSearch,
    MigrationMode,
    Preemption,
    QueueingStrategy,
    QueuePreemption,
    StopPolicy,
)
from pulumi_kuberay.kueue_cohort import Cohort, CohortArgs
from pulumi_kuberay.kueue_configuration_args import (
    AdmissionFairSharing,
    ClientConnection,
    FairSharingPolicy,
    Integrations,
    InternalCertManagement,
    KueueConfiguration,
    KueueFramework,
    KueueMetrics,
    LeaderElection,
    MultiKueue,
    QuotaCheck,
    RequeuingStrategy,
    RequeuingTimestamp,
    ResourceHandling,
    ResourceTransformation,
    SharePreemption,
    TransformationStrategy,
    WaitForPodsReady,
    WorkloadRetention,
)
from pulumi_kuberay.kueue_local_queue import LocalQueue, LocalQueueArgs
from pulumi_kuberay.kueue_priority_class import WorkloadPriorityClass, WorkloadPriorityClassArgs
from pulumi_kuberay.kueue_quotas import FairSharing, FlavorQuotas, ResourceGroup, ResourceQuota
from pulumi_kuberay.kueue_resource_flavor import ResourceFlavor, ResourceFlavorArgs
from pulumi_kuberay.label_selectors import LabelSelector, LabelSelectorRequirement, SelectorOperator
from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.operator_args import HelmChart, KubeRayOperatorArgs, KustomizeFolders, OperatorImage
from pulumi_kuberay.pod_template import (
    PodSecurityStandard,
    PodTemplate,
    Resources,
    SecretKey,
    Volume,
)
from pulumi_kuberay.ray_cluster import (
    RayCluster,
    RayClusterArgs,
    UpgradeStrategy,
)
from pulumi_kuberay.ray_cluster_template import (
    AutoscalerVersion,
    Autoscaling,
    GcsFaultTolerance,
    RayClusterTemplate,
    TokenAuth,
    UpscalingMode,
)
from pulumi_kuberay.ray_groups import (
    HeadGroup,
    WorkerGroup,
)
from pulumi_kuberay.ray_job import (
    RayJob,
)
from pulumi_kuberay.ray_job_args import (
    ManagedBy,
    RayJobArgs,
)
from pulumi_kuberay.run_identity import (
    RunNaming,
)
from pulumi_kuberay.scheduling import (
    KueueQueue,
    Scheduling,
    queue,
    suspended,
)
from pulumi_kuberay.submission import (
    SubmissionMode,
    Submitter,
)
from pulumi_kuberay.taints import Taint, TaintEffect, Toleration, TolerationOperator

__all__ = [
    "AdmissionCheck",
    "AdmissionFairSharing",
    "AdmissionMode",
    "ArgumentError",
    "AutoscalerVersion",
    "Autoscaling",
    "BorrowWithinCohort",
    "BorrowingPreemption",
    "CertManager",
    "Cleanup",
    "ClientConnection",
    "ClusterQueue",
    "ClusterQueueArgs",
    "Cohort",
    "CohortArgs",
    "CohortPreemption",
    "ConcurrentAdmission",
    "DeletionPolicy",
    "DeletionRule",
    "FairSharing",
    "FairSharingPolicy",
    "FinishedJobStatus",
    "FlavorFungibility",
    "FlavorPreference",
    "FlavorQuotas",
    "FlavorSearch",
    "GcsFaultTolerance",
    "HeadGroup",
    "HelmChart",
    "Integrations",
    "InternalCertManagement",
    "KubeRayCrds",
    "KubeRayCrdsArgs",
    "KubeRayOperator",
    "KubeRayOperatorArgs",
    "KubernetesObject",
    "Kueue",
    "KueueArgs",
    "KueueConfiguration",
    "KueueFramework",
    "KueueImage",
    "KueueMetrics",
    "KueueQueue",
    "KustomizeFolders",
    "LabelSelector",
    "LabelSelectorRequirement",
    "LeaderElection",
    "LegacyDeletion",
    "LocalQueue",
    "LocalQueueArgs",
    "ManagedBy",
    "MetricsService",
    "MigrationMode",
    "MultiKueue",
    "OperatorImage",
    "PodSecurityStandard",
    "PodTemplate",
    "Preemption",
    "Probe",
    "Prometheus",
    "PullPolicy",
    "QueuePreemption",
    "QueueingStrategy",
    "QuotaCheck",
    "RayCluster",
    "RayClusterArgs",
    "RayClusterTemplate",
    "RayJob",
    "RayJobArgs",
    "ReinvocationPolicy",
    "RequeuingStrategy",
    "RequeuingTimestamp",
    "ResourceFlavor",
    "ResourceFlavorArgs",
    "ResourceGroup",
    "ResourceHandling",
    "ResourceQuota",
    "ResourceRequirements",
    "ResourceTransformation",
    "Resources",
    "RunNaming",
    "Scheduling",
    "SecretKey",
    "SelectorOperator",
    "ServiceType",
    "SharePreemption",
    "StopPolicy",
    "SubmissionMode",
    "Submitter",
    "Taint",
    "TaintEffect",
    "TokenAuth",
    "Toleration",
    "TolerationOperator",
    "TransformationStrategy",
    "UpgradeStrategy",
    "UpscalingMode",
    "Volume",
    "WaitForPodsReady",
    "WebhookService",
    "WorkerGroup",
    "WorkloadPriorityClass",
    "WorkloadPriorityClassArgs",
    "WorkloadRetention",
    "deletion_rules",
    "keep",
    "legacy",
    "queue",
    "shut_down",
    "suspended",
]
