"""The manifests of the Job: a namespace of its own, and pods that ask the cluster for nothing but CPU and memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.clusters.footprint import LABEL, OWNER

JOB = "crash-sweep"
INDEX_LABEL = "batch.kubernetes.io/job-completion-index"
OF_JOB = f"batch.kubernetes.io/job-name={JOB}"

_WORK = "/work"
_KEPT_SECONDS = 3600
"""How long an ended Job stays where nobody is left to remove its namespace."""

_STOP_SECONDS = 10
_DISK = "8Gi"
_USED_CPU = 2.0
"""CPUs that a part may use where it asks for fewer."""


@dataclass(frozen=True)
class Wish:
    """What is wanted.

    Attributes:
        image: Reference of the harness's image.
        parts: In how many parts the plan is cut.
        at_once: How many pods run at a time.
        namespace: The namespace that is made.
        deadline: Seconds after which the Job is ended, whatever it has come to.
        options: Further arguments of `kuberay-e2e crash run` for each part.
        cpu: CPUs that a pod asks for; it may use 2 where that is more.
        memory: Memory of a pod, as Kubernetes writes quantities.
    """

    image: str
    parts: int
    at_once: int
    namespace: str
    deadline: int
    options: tuple[str, ...] = ()
    cpu: float = 2.0
    memory: str = "3Gi"


def namespace(wish: Wish, run: str) -> Mapping[str, Any]:
    """The namespace, which lets in only pods of the `restricted` Pod Security Standard."""
    labels = {LABEL: OWNER, f"{OWNER}/run": run, "pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": wish.namespace, "labels": labels}}


def job(wish: Wish) -> Mapping[str, Any]:
    """The Job.

    Its pods are made anew where the cluster took them away (a drained node), and not where a part failed: the same part
    would most likely fail again.
    """
    labels = {LABEL: OWNER, "app.kubernetes.io/name": JOB}
    disruption = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": JOB, "namespace": wish.namespace, "labels": labels},
        "spec": {
            "completionMode": "Indexed",
            "completions": wish.parts,
            "parallelism": min(wish.at_once, wish.parts),
            "backoffLimitPerIndex": 0,
            "activeDeadlineSeconds": wish.deadline,
            "ttlSecondsAfterFinished": _KEPT_SECONDS,
            "podFailurePolicy": {"rules": [disruption]},
            "template": {"metadata": {"labels": dict(labels)}, "spec": _pod(wish)},
        },
    }


def _pod(wish: Wish) -> Mapping[str, Any]:
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "fsGroup": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(wish)],
        "volumes": [
            {"name": "work", "emptyDir": {"sizeLimit": _DISK}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
    }


def _container(wish: Wish) -> Mapping[str, Any]:
    return {
        "name": "part",
        "image": wish.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-m", "kuberay_e2e.crash.indexed.part", str(wish.parts), f"{_WORK}/sweep"],
        "args": list(wish.options),
        "env": [{"name": "HOME", "value": _WORK}, {"name": "XDG_STATE_HOME", "value": f"{_WORK}/state"}],
        "resources": {
            "requests": {"cpu": _cpu(wish.cpu), "memory": wish.memory},
            "limits": {"cpu": _cpu(max(wish.cpu, _USED_CPU)), "memory": wish.memory},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "work", "mountPath": _WORK}, {"name": "tmp", "mountPath": "/tmp"}],
    }


def _cpu(number: float) -> str:
    return f"{round(number * 1000)}m"
