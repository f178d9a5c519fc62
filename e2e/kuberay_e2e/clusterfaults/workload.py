"""The RayJobs that faults are injected into: small, bounded in time, and with an entrypoint that counts its runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kuberay_e2e.clusterfaults import executions

IMAGE = "rayproject/ray:2.52.0"
RAY_VERSION = "2.52.0"
CONFIG_MAP = "entrypoint"

_CODE = """
import os
import sys
import time
import uuid


def say(run, word):
    with open(f"{RUNS}/{run}", "a") as file:
        print(run, os.uname().nodename, word, time.time(), file=file, flush=True)


def work(run, seconds):
    end = time.monotonic() + {LONGEST}
    while not os.path.exists("{RUNS}/{RELEASE}") and time.monotonic() < end:
        time.sleep(0.5)
        say(run, "beat")
    time.sleep(seconds)


run, seconds = uuid.uuid4().hex, float(sys.argv[1])
say(run, "start")
if len(sys.argv) > 2:
    import ray

    ray.init()

    @ray.remote(num_cpus=1, max_retries=3)
    def task():
        say(run, "task")
        work(run, seconds)

    ray.get(task.remote())
else:
    work(run, seconds)
say(run, "end")
print("the work is done", flush=True)
"""

LONGEST_SECONDS = 400.0
"""An entrypoint that nobody releases ends by itself, seconds."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT": "240",
}
"""On a loaded machine Ray's dashboard gives up after the 30 s that its parts have to start, and no head gets ready."""

_FEWER_PROCESSES = {"no-monitor": "true", "include-log-monitor": "false"}
_TOLERATIONS = [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}]


class Mode(StrEnum):
    """How the job is submitted."""

    K8S_JOB = "K8sJobMode"
    HTTP = "HTTPMode"
    SIDECAR = "SidecarMode"


@dataclass(frozen=True)
class Load:
    """What a RayJob is made of.

    Attributes:
        mode: How it is submitted.
        seconds: How long its entrypoint takes after it was released, seconds.
        workers: Number of worker pods. With workers, the entrypoint waits for a task that runs on one of them.
        deadline: `activeDeadlineSeconds`, seconds: no fault lets it run for ever.
        submitter_memory: Memory limit of the submitter.
        submitter_backoff: `submitterConfig.backoffLimit`; None: KubeRay's default.
        near: Node on which its pods are placed while it takes pods; empty: any.
        grace: `terminationGracePeriodSeconds` of its pods, seconds.
    """

    mode: Mode
    seconds: float = 2.0
    workers: int = 0
    deadline: int = 600
    submitter_memory: str = "1Gi"
    submitter_backoff: int | None = None
    near: str = ""
    grace: int = 3


def code() -> str:
    """The entrypoint: it says that it runs until it is released, and ends some seconds later."""
    values = {"RUNS": executions.MOUNT, "RELEASE": executions.RELEASE, "LONGEST": f"{LONGEST_SECONDS:.0f}"}
    text = _CODE
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def config_map(namespace: str) -> dict[str, Any]:
    """The code of the entrypoint."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG_MAP, "namespace": namespace},
        "data": {"job.py": code()},
    }


def rayjob(namespace: str, name: str, load: Load, folder: str) -> dict[str, Any]:
    """The RayJob.

    Args:
        namespace: Its namespace.
        name: Its name.
        load: What it is made of.
        folder: Folder on the nodes in which its entrypoint counts its runs.
    """
    spec: dict[str, Any] = {
        "entrypoint": f"python /code/job.py {load.seconds:g}" + (" remote" if load.workers else ""),
        "submissionMode": load.mode.value,
        "activeDeadlineSeconds": load.deadline,
        "rayClusterSpec": {
            "rayVersion": RAY_VERSION,
            "headGroupSpec": {
                "rayStartParams": {"num-cpus": "0" if load.workers else "1", **_FEWER_PROCESSES},
                "template": ray_pod("ray-head", load, folder, memory="1536Mi", probes=head_probes()),
            },
        },
    }
    if load.workers:
        spec["rayClusterSpec"]["workerGroupSpecs"] = [
            {
                "groupName": "workers",
                "replicas": load.workers,
                "minReplicas": load.workers,
                "maxReplicas": load.workers,
                "rayStartParams": {"num-cpus": "1"},
                "template": ray_pod("ray-worker", load, folder, memory="1Gi"),
            }
        ]
    if load.mode is Mode.K8S_JOB:
        spec["submitterPodTemplate"] = submitter(load)
        if load.submitter_backoff is not None:
            spec["submitterConfig"] = {"backoffLimit": load.submitter_backoff}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def ray_pod(
    container: str, load: Load, folder: str, *, memory: str, probes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The template of a Ray pod that mounts the entrypoint's code and the folder in which its runs are counted.

    Args:
        container: Name of its container.
        load: Where it is placed.
        folder: The folder on the node.
        memory: Its memory limit.
        probes: Probes of its container, in the place of KubeRay's.
    """
    return {
        "spec": {
            **_placement(load),
            "containers": [
                {
                    **_container(container, cpu="100m", request="300Mi", limit=memory),
                    **(probes or {}),
                    "volumeMounts": [
                        {"name": "code", "mountPath": "/code"},
                        {"name": "runs", "mountPath": executions.MOUNT},
                    ],
                }
            ],
            "volumes": [
                {"name": "code", "configMap": {"name": CONFIG_MAP}},
                {"name": "runs", "hostPath": {"path": folder, "type": "Directory"}},
            ],
        }
    }


def head_probes() -> dict[str, Any]:
    """Probes by the kubelet itself: KubeRay's own start four processes each time, which a loaded machine feels."""
    probe = {"httpGet": {"path": "/api/gcs_healthz", "port": 8265}, "timeoutSeconds": 10}
    return {
        "readinessProbe": {**probe, "periodSeconds": 2, "failureThreshold": 10},
        "livenessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 30},
    }


def submitter(load: Load) -> dict[str, Any]:
    """The template of a submitter pod."""
    container = _container("submitter", cpu="50m", request="16Mi", limit=load.submitter_memory)
    return {"spec": {**_placement(load), "restartPolicy": "Never", "containers": [container]}}


def _container(name: str, *, cpu: str, request: str, limit: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": name, "value": value} for name, value in _ENVIRONMENT.items()],
        "resources": {"requests": {"cpu": cpu, "memory": request}, "limits": {"memory": limit}},
    }


def _placement(load: Load) -> Mapping[str, Any]:
    placement: dict[str, Any] = {"tolerations": _TOLERATIONS, "terminationGracePeriodSeconds": load.grace}
    if load.near:
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [load.near]}]}
        placement["affinity"] = {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": term}]}
        }
    return placement
