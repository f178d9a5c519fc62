"""Objects that keep every policy, and ways to change them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from kuberay_policies.subjects import Options, Source, Subject
from tests.model.rayjobs import Change, Manifest

IMAGE = "rayproject/ray:2.52.0"
CLUSTER = "spec.rayClusterSpec"
HEAD = f"{CLUSTER}.headGroupSpec"
WORKER = f"{CLUSTER}.workerGroupSpecs.0"
HEAD_POD = f"{HEAD}.template.spec"
WORKER_POD = f"{WORKER}.template.spec"
HEAD_CONTAINER = f"{HEAD_POD}.containers.0"
WORKER_CONTAINER = f"{WORKER_POD}.containers.0"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
NAMESPACE = "ml"


def container(name: str, cpu: str = "1", memory: str = "2Gi", **more: str) -> dict[str, Any]:
    """A container that runs restricted and has equal requests and limits."""
    amounts = {"cpu": cpu, "memory": memory, **more}
    return {
        "name": name,
        "image": IMAGE,
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        "securityContext": {
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def pod_template(*containers: Mapping[str, Any]) -> dict[str, Any]:
    """A Pod template without a token."""
    return {"spec": {"automountServiceAccountToken": False, "containers": list(containers)}}


_CLUSTER_SPEC = {
    "rayVersion": "2.52.0",
    "authOptions": {"mode": "token"},
    "headGroupSpec": {"rayStartParams": {}, "template": pod_template(container("ray-head"))},
    "workerGroupSpecs": [
        {
            "groupName": "small",
            "replicas": 2,
            "minReplicas": 2,
            "maxReplicas": 2,
            "rayStartParams": {},
            "template": pod_template(container("ray-worker")),
        }
    ],
}
_JOB_SPEC = {
    "entrypoint": "python train.py",
    "shutdownAfterJobFinishes": True,
    "ttlSecondsAfterFinished": 60,
    "activeDeadlineSeconds": 3600,
    "preRunningDeadlineSeconds": 600,
    "rayClusterSpec": _CLUSTER_SPEC,
}


def made(kind: str, name: str, spec: Any, *changes: Change, api: str = "ray.io/v1", **metadata: Any) -> Manifest:
    """An object after the changes."""
    manifest = {"apiVersion": api, "kind": kind, "metadata": {"name": name, **metadata}, "spec": copy.deepcopy(spec)}
    for change in changes:
        change(manifest)
    return manifest


def job(*changes: Change) -> Manifest:
    """A RayJob that keeps every policy, after the changes."""
    return made("RayJob", "train", _JOB_SPEC, *changes, namespace=NAMESPACE)


def cluster(*changes: Change) -> Manifest:
    """A RayCluster that keeps every policy, after the changes."""
    return made("RayCluster", "shared", _CLUSTER_SPEC, *changes, namespace=NAMESPACE)


def service(*changes: Change) -> Manifest:
    """A RayService that keeps every policy, after the changes."""
    return made("RayService", "serve", {"rayClusterConfig": _CLUSTER_SPEC}, *changes, namespace=NAMESPACE)


def cron_job(*changes: Change) -> Manifest:
    """A RayCronJob that keeps every policy if the gate is on, after the changes."""
    spec = {"schedule": "0 3 * * *", "jobTemplate": _JOB_SPEC}
    return made("RayCronJob", "nightly", spec, *changes, namespace=NAMESPACE)


def queued(*changes: Change) -> Manifest:
    """A RayJob for the queue `team`, after the changes."""

    def label(manifest: Manifest) -> None:
        manifest["metadata"]["labels"] = {QUEUE_LABEL: "team"}

    return job(label, *changes)


def local_queue(name: str = "team", queue: str = "main", namespace: str = NAMESPACE) -> Manifest:
    """A LocalQueue."""
    return made("LocalQueue", name, {"clusterQueue": queue}, api="kueue.x-k8s.io/v1beta2", namespace=namespace)


def cluster_queue(*changes: Change, **quotas: str) -> Manifest:
    """A ClusterQueue `main` with one flavor, after the changes; quotas by resource, 16 CPUs and 64Gi if none."""
    amounts = {name.replace("__", "/").replace("_", "."): amount for name, amount in quotas.items()}
    amounts = amounts or {"cpu": "16", "memory": "64Gi"}
    spec = {
        "namespaceSelector": {},
        "resourceGroups": [
            {
                "coveredResources": list(amounts),
                "flavors": [
                    {
                        "name": "default",
                        "resources": [{"name": name, "nominalQuota": amount} for name, amount in amounts.items()],
                    }
                ],
            }
        ],
    }
    return made("ClusterQueue", "main", spec, *changes, api="kueue.x-k8s.io/v1beta2")


def flavor(name: str = "default") -> Manifest:
    """A ResourceFlavor."""
    return made("ResourceFlavor", name, {}, api="kueue.x-k8s.io/v1beta2")


def priority(name: str = "high") -> Manifest:
    """A WorkloadPriorityClass."""
    return made("WorkloadPriorityClass", name, {}, api="kueue.x-k8s.io/v1beta2")


ALL_GATES = (
    "RayClusterStatusConditions=true,RayJobDeletionPolicy=true,RayMultiHostIndexing=true,"
    "RayServiceIncrementalUpgrade=false,RayCronJob=false,AsyncJobInfoQuery=false"
)


def operator(*changes: Change, args: tuple[str, ...] = (), image: str = "quay.io/kuberay/operator:v1.6.2") -> Manifest:
    """The Deployment of the operator, after the changes."""
    flags = (*args, "--watch-namespace=ml", f"--feature-gates={ALL_GATES}")
    given = {flag.partition("=")[0]: flag for flag in reversed(flags)}
    spec = {
        "replicas": 1,
        "template": {
            "spec": {
                "serviceAccountName": "kuberay-operator",
                "containers": [
                    {
                        "name": "kuberay-operator",
                        "image": image,
                        "command": ["/manager"],
                        "args": [flag for flag in given.values() if not flag.endswith("=")],
                        "resources": {"limits": {"cpu": "1", "memory": "512Mi"}},
                    }
                ],
            }
        },
    }
    return made("Deployment", "kuberay-operator", spec, *changes, api="apps/v1", namespace="kuberay")


RBAC = "rbac.authorization.k8s.io/v1"


def role(*rules: tuple[str, str, str], kind: str = "ClusterRole", name: str = "kuberay-operator") -> Manifest:
    """A role that allows verbs on resources of API groups, each a list separated by commas."""
    listed = [
        dict(zip(("apiGroups", "resources", "verbs"), (p.split(",") for p in rule), strict=True)) for rule in rules
    ]
    return {"apiVersion": RBAC, "kind": kind, "metadata": {"name": name}, "rules": listed}


def binding(
    account: str, role_name: str = "kuberay-operator", kind: str = "ClusterRoleBinding", home: str = "kuberay"
) -> Manifest:
    """A binding of a ClusterRole to a ServiceAccount."""
    metadata = {"name": f"{account}-{role_name}"} | ({"namespace": NAMESPACE} if kind == "RoleBinding" else {})
    return {
        "apiVersion": RBAC,
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role_name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": home}],
    }


def crd(version: str = "v1") -> Manifest:
    """The CRD of RayJob, its schema free."""
    schema = {"openAPIV3Schema": {"type": "object", "properties": {}, "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "schema": schema}
    spec = {"group": "ray.io", "names": {"kind": "RayJob"}, "versions": [served]}
    return made("CustomResourceDefinition", "rayjobs.ray.io", spec, api="apiextensions.k8s.io/v1")


def from_pulumi(manifest: Manifest, name: str = "train", **options: Any) -> Subject:
    """An object as a Pulumi front end hands it over."""
    api = manifest["apiVersion"] if "/" in manifest["apiVersion"] else f"core/{manifest['apiVersion']}"
    urn = f"urn:pulumi:dev::demo::kubernetes:{api}:{manifest['kind']}::{name}"
    return Subject(manifest, Source(urn=urn), Options(**options))
