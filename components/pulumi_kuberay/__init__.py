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
from pulumi_kuberay.objects import KubernetesObject
from pulumi_kuberay.operator_args import HelmChart, KubeRayOperatorArgs, KustomizeFolders, OperatorImage
from pulumi_kuberay.ray_cluster import HeadGroup, WorkerGroup
from pulumi_kuberay.ray_job import RayJob
from pulumi_kuberay.ray_job_args import RayJobArgs, SubmissionMode

__all__ = [
    "ArgumentError",
    "Cleanup",
    "DeletionPolicy",
    "DeletionRule",
    "FinishedJobStatus",
    "HeadGroup",
    "HelmChart",
    "KubeRayCrds",
    "KubeRayCrdsArgs",
    "KubeRayOperator",
    "KubeRayOperatorArgs",
    "KubernetesObject",
    "KustomizeFolders",
    "OperatorImage",
    "RayJob",
    "RayJobArgs",
    "SubmissionMode",
    "WorkerGroup",
    "deletion_rules",
    "keep",
    "shut_down",
]
