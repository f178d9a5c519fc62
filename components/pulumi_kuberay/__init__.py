"""Typed Pulumi components that put KubeRay on a Kubernetes cluster."""

from pulumi_kuberay.cleanup import (
    Cleanup,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    deletion_rules,
    keep,
    shut_down,
)
from pulumi_kuberay.crds import KubeRayCrds, KubeRayCrdsArgs
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.kuberay_operator import KubeRayOperator
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
from pulumi_kuberay.kueue_local_queue import LocalQueue, LocalQueueArgs
from pulumi_kuberay.kueue_priority_class import WorkloadPriorityClass, WorkloadPriorityClassArgs
from pulumi_kuberay.kueue_quotas import FairSharing, FlavorQuotas, ResourceGroup, ResourceQuota
from pulumi_kuberay.kueue_resource_flavor import ResourceFlavor, ResourceFlavorArgs
from pulumi_kuberay.label_selectors import LabelSelector, LabelSelectorRequirement, SelectorOperator
from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.operator_args import HelmChart, KubeRayOperatorArgs, KustomizeFolders, OperatorImage
from pulumi_kuberay.ray_cluster import HeadGroup, WorkerGroup
from pulumi_kuberay.ray_job import RayJob
from pulumi_kuberay.ray_job_args import RayJobArgs, SubmissionMode
from pulumi_kuberay.taints import Taint, TaintEffect, Toleration, TolerationOperator

__all__ = [
    "AdmissionCheck",
    "AdmissionMode",
    "ArgumentError",
    "BorrowWithinCohort",
    "BorrowingPreemption",
    "Cleanup",
    "ClusterQueue",
    "ClusterQueueArgs",
    "Cohort",
    "CohortArgs",
    "CohortPreemption",
    "ConcurrentAdmission",
    "DeletionPolicy",
    "DeletionRule",
    "FairSharing",
    "FinishedJobStatus",
    "FlavorFungibility",
    "FlavorPreference",
    "FlavorQuotas",
    "FlavorSearch",
    "HeadGroup",
    "HelmChart",
    "KubeRayCrds",
    "KubeRayCrdsArgs",
    "KubeRayOperator",
    "KubeRayOperatorArgs",
    "KubernetesObject",
    "KustomizeFolders",
    "LabelSelector",
    "LabelSelectorRequirement",
    "LocalQueue",
    "LocalQueueArgs",
    "MigrationMode",
    "OperatorImage",
    "Preemption",
    "QueuePreemption",
    "QueueingStrategy",
    "RayJob",
    "RayJobArgs",
    "ResourceFlavor",
    "ResourceFlavorArgs",
    "ResourceGroup",
    "ResourceQuota",
    "SelectorOperator",
    "StopPolicy",
    "SubmissionMode",
    "Taint",
    "TaintEffect",
    "Toleration",
    "TolerationOperator",
    "WorkerGroup",
    "WorkloadPriorityClass",
    "WorkloadPriorityClassArgs",
    "deletion_rules",
    "keep",
    "shut_down",
]
