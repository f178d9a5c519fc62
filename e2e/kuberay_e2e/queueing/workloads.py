"""RayJobs for the queues: small enough for a node of two CPUs, and the same for simulated and for real pods.

What they do is told by their entrypoint alone, so that real Ray runs it and the simulated Ray is scripted by it.
"""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.ray.script import JobSpec, Script

Manifest = dict[str, Any]

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"

IMAGE = "rayproject/ray:2.52.0"
RAY_VERSION = "2.52.0"

POD_MILLICPUS, SUBMITTER_MILLICPUS = 100, 50
"""What pods ask for, in thousandths of a CPU: the control plane of a node of two asks for half of it."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT": "240",
}
"""On a loaded machine Ray's dashboard gives up after the 30 s that its parts have to start, and no head gets ready."""

_FEWER_PROCESSES = {"no-monitor": "true", "include-log-monitor": "false"}

GRACE_SECONDS = 5
"""How long a pod may take to end. Kubernetes gives 30 by default, which a Ray head uses to its end."""

BRIEF, LONG, ENDLESS, FAILING = "sleep 1", "sleep 12", "sleep 3600", "false"
"""Entrypoints: a job that is soon over, one that can be disturbed while it runs, one that only ends when it is
deleted, and one that fails."""

SCRIPTS: Mapping[str, Script] = {
    BRIEF: Script(duration=0.2),
    LONG: Script(duration=3.0),
    ENDLESS: Script(duration=3600.0),
    FAILING: Script(duration=0.2, end="FAILED"),
}
"""What simulated jobs do, by their entrypoints: the same, but faster."""


def script(job: JobSpec) -> Script:
    """What a simulated job does."""
    return SCRIPTS.get(job.entrypoint, SCRIPTS[BRIEF])


def job_millicpus(workers: int = 0) -> int:
    """CPU that Kueue counts for a RayJob in K8sJobMode: head, workers and submitter, in thousandths.

    The submitter is a pod set of its own (`addSubmitterPodSet` of Kueue's `rayjob_controller.go`).
    """
    return POD_MILLICPUS * (1 + workers) + SUBMITTER_MILLICPUS


def rayjob(
    namespace: str,
    name: str,
    *,
    queue: str,
    entrypoint: str = BRIEF,
    priority: str = "",
    workers: int = 0,
    spec: Mapping[str, Any] | None = None,
) -> Manifest:
    """A RayJob in a queue.

    Args:
        namespace: Its namespace.
        name: Its name.
        queue: The LocalQueue.
        entrypoint: What it does, one of `SCRIPTS`.
        priority: The WorkloadPriorityClass; empty for none.
        workers: Number of worker pods.
        spec: Further fields of `spec`.
    """
    group: Manifest = {
        "groupName": "workers",
        "replicas": workers,
        "minReplicas": workers,
        "maxReplicas": workers,
        "rayStartParams": {"num-cpus": "1"},
        "template": _pod("ray-worker"),
    }
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {QUEUE_LABEL: queue, **({PRIORITY_LABEL: priority} if priority else {})},
        },
        "spec": {
            "entrypoint": entrypoint,
            "shutdownAfterJobFinishes": True,
            "submitterPodTemplate": _submitter(),
            "rayClusterSpec": {
                "rayVersion": RAY_VERSION,
                "headGroupSpec": {
                    "rayStartParams": {"num-cpus": "1", **_FEWER_PROCESSES},
                    "template": _pod("ray-head", **_head_probes()),
                },
                **({"workerGroupSpecs": [group]} if workers else {}),
            },
            **(spec or {}),
        },
    }


def blocker(namespace: str, name: str, *, queue: str, millicpus: int) -> Manifest:
    """A batch Job that only takes quota, until it is deleted.

    Args:
        namespace: Its namespace.
        name: Its name.
        queue: The LocalQueue.
        millicpus: CPU that it asks for, in thousandths.
    """
    container = {
        "name": "blocker",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "3600"],
        "resources": {"requests": {"cpu": f"{millicpus}m", "memory": "16Mi"}},
    }
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": {QUEUE_LABEL: queue}},
        "spec": {"suspend": True, "backoffLimit": 0, "template": {"spec": pod}},
    }


def _head_probes() -> Manifest:
    """Probes by the kubelet itself: KubeRay's own start four processes each time, which a loaded machine feels."""
    probe = {"httpGet": {"path": "/api/gcs_healthz", "port": 8265}, "timeoutSeconds": 10}
    return {
        "readinessProbe": {**probe, "periodSeconds": 2, "failureThreshold": 10},
        "livenessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 30},
    }


def _pod(name: str, **probes: Any) -> Manifest:
    container = {
        "name": name,
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": variable, "value": value} for variable, value in _ENVIRONMENT.items()],
        "resources": {
            "requests": {"cpu": f"{POD_MILLICPUS}m", "memory": "512Mi"},
            "limits": {"memory": "1536Mi"},
        },
        **probes,
    }
    return {"spec": {"terminationGracePeriodSeconds": GRACE_SECONDS, "containers": [container]}}


def _submitter() -> Manifest:
    container = {
        "name": "ray-job-submitter",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": f"{SUBMITTER_MILLICPUS}m", "memory": "128Mi"}},
    }
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": GRACE_SECONDS, "containers": [container]}
    return {"spec": pod}
