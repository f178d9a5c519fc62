"""Cleanup in stages: workers at once, the RayCluster later, and later still when the job has failed."""

from pathlib import Path

import pulumi

from pulumi_kuberay import (
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    KubernetesObject,
    PodTemplate,
    RayClusterTemplate,
    RayJob,
    RayJobArgs,
    Resources,
    TokenAuth,
    Volume,
    WorkerGroup,
    deletion_rules,
)

HOUR = 3600
namespace = pulumi.Config().get("namespace") or "reports"

team = KubernetesObject(namespace, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
code = KubernetesObject(
    "report",
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "report", "namespace": namespace},
        "data": {"report.py": Path("report.py").read_text(encoding="utf-8")},
    },
    pulumi.ResourceOptions(depends_on=[team]),
)

RayJob(
    "report",
    RayJobArgs(
        namespace=namespace,
        entrypoint="python /code/report.py",
        active_deadline_seconds=2 * HOUR,
        cleanup=deletion_rules(
            DeletionRule(policy=DeletionPolicy.DELETE_WORKERS, job_status=FinishedJobStatus.SUCCEEDED),
            DeletionRule(
                policy=DeletionPolicy.DELETE_CLUSTER, job_status=FinishedJobStatus.SUCCEEDED, ttl_seconds=HOUR // 4
            ),
            DeletionRule(policy=DeletionPolicy.DELETE_WORKERS, job_status=FinishedJobStatus.FAILED, ttl_seconds=60),
            DeletionRule(
                policy=DeletionPolicy.DELETE_CLUSTER, job_status=FinishedJobStatus.FAILED, ttl_seconds=24 * HOUR
            ),
            DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, deployment_failed=True, ttl_seconds=24 * HOUR),
        ),
        cluster=RayClusterTemplate(
            token_auth=TokenAuth(),
            pods=PodTemplate(volumes=[Volume(name="code", mount_path="/code", config_map="report")]),
            workers=[
                WorkerGroup(name="cpu", replicas=3, pod=PodTemplate(resources=Resources(cpu="2", memory="8Gi"))),
            ],
        ),
    ),
    pulumi.ResourceOptions(depends_on=[code]),
)
