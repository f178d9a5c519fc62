"""Objects that go through every state of `tests.gitops.states`, on a cluster with operator and Kueue."""

import copy
from collections.abc import Mapping
from threading import Event
from typing import Any

from kuberay_e2e.access import Access
from kuberay_e2e.api import KINDS
from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.ray import Script
from tests.e2e.jobs import rayjob

RAY = "/apis/ray.io/v1"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
MERGE = {"Content-Type": "application/merge-patch+json"}
MOST_CPUS, NOWHERE, REFUSED = "20000", "10000", "30000"
"""CPUs that a container may ask for, that no node has, and that a container may not ask for."""

FAILING_SUBMITTER = {
    "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "submitter", "image": "rayproject/ray:2.52.0", "command": ["/bin/sh", "-c", "exit 1"]}],
    }
}
QUEUE_NAME = "kueue.x-k8s.io/queue-name"


class Scene:
    """Creates the objects and moves them on.

    Args:
        access: The API server.
        namespace: Namespace of the objects; ClusterQueues are called after it.
        scripts: Chooses what simulated jobs do.
    """

    def __init__(self, access: Access, namespace: str, scripts: Scripts) -> None:
        self._client = access.client()
        self.namespace = namespace
        self._scripts = scripts
        self.go_on = Event()

    def close(self) -> None:
        """Let the jobs end that are left, and remove what is in no namespace."""
        self.go_on.set()
        for name in ("open", "flavorless", "held"):
            self._client.delete(f"{KUEUE}/clusterqueues/{self.namespace}-{name}")
        self._client.delete(f"{KUEUE}/resourceflavors/{self.namespace}")
        self._client.close()

    def job(self, name: str, script: Script | None = None, **spec: Any) -> None:
        """Create a RayJob."""
        entrypoint = f"python {self.namespace}/{name}.py"
        self._scripts.set(entrypoint, script or Script(duration=1.0))
        self._create("rayjobs", rayjob(self.namespace, name, **{"entrypoint": entrypoint, **spec}))

    def late_job(self, name: str, cpus: str, **spec: Any) -> None:
        """Create a RayJob whose RayCluster asks for more CPUs than there are, or than `refuse` allows."""
        manifest = rayjob(self.namespace, name, **spec)
        manifest["spec"]["rayClusterSpec"] = asking(manifest["spec"]["rayClusterSpec"], cpus)
        self._create("rayjobs", manifest)

    def queued_job(self, name: str, cpus: int, script: Script | None = None, *, queue: str = "open") -> None:
        """Create a RayJob in a queue, whose head and worker ask for so many CPUs each."""
        entrypoint = f"python {self.namespace}/{name}.py"
        self._scripts.set(entrypoint, script or Script(duration=1.0))
        manifest = rayjob(self.namespace, name, entrypoint=entrypoint, shutdownAfterJobFinishes=True)
        manifest["metadata"]["labels"] = {QUEUE_NAME: queue}
        manifest["spec"]["rayClusterSpec"] = asking(manifest["spec"]["rayClusterSpec"], str(cpus))
        self._create("rayjobs", manifest)

    def cluster(self, name: str, cpus: str = "") -> None:
        """Create a RayCluster; one that asks for CPUs is refused its pods by `refuse`."""
        spec = rayjob(self.namespace)["spec"]["rayClusterSpec"]
        meta = {"name": name, "namespace": self.namespace}
        self._create(
            "rayclusters",
            {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": meta, "spec": asking(spec, cpus)},
        )

    def service(self, name: str, *, fewest_workers: int = 1) -> None:
        """Create a RayService with at most one worker; no Serve runs in a simulated head: it never becomes ready."""
        meta = {"name": name, "namespace": self.namespace}
        cluster = rayjob(self.namespace)["spec"]["rayClusterSpec"]
        cluster["workerGroupSpecs"][0]["minReplicas"] = fewest_workers
        self._create(
            "rayservices",
            {
                "apiVersion": "ray.io/v1",
                "kind": "RayService",
                "metadata": meta,
                "spec": {"serveConfigV2": "applications: []\n", "rayClusterConfig": cluster},
            },
        )

    def refuse(self) -> None:
        """Refuse every pod that asks for more than `MOST_CPUS`."""
        usual = {"default": {"cpu": "1"}, "defaultRequest": {"cpu": "10m"}}
        limits = [{"type": "Container", "max": {"cpu": MOST_CPUS}, **usual}]
        self._post(
            f"/api/v1/namespaces/{self.namespace}/limitranges",
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"}, "spec": {"limits": limits}},
        )

    def queues(self) -> None:
        """Create ClusterQueues and LocalQueues, good and bad ones."""
        self._post(
            f"{KUEUE}/resourceflavors",
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": self.namespace}},
        )
        self._cluster_queue("open", self.namespace)
        self._cluster_queue("flavorless", f"{self.namespace}-none")
        self._cluster_queue("held", self.namespace, stopPolicy="Hold")
        self._local_queue("open", "open")
        self._local_queue("held", "open", stopPolicy="Hold")
        self._local_queue("astray", "none")

    def patch(self, plural: str, name: str, change: Mapping[str, Any]) -> None:
        """Change an object of the namespace by a merge patch."""
        root = KUEUE if plural == "workloads" else RAY
        path = f"{root}/namespaces/{self.namespace}/{plural}/{name}"
        answer = self._client.patch(path, json=change, headers=MERGE)
        assert answer.is_success, answer.text

    def delete(self, kind: str, name: str) -> None:
        """Delete an object of the namespace."""
        answer = self._client.delete(f"{KINDS[kind].format(namespace=self.namespace)}/{name}")
        assert answer.is_success, answer.text

    def pods(self, cluster: str) -> list[str]:
        """Names of the head pods of a RayCluster."""
        selector = f"ray.io/cluster={cluster},ray.io/node-type=head"
        found = self._client.get(KINDS["Pod"].format(namespace=self.namespace), params={"labelSelector": selector})
        return [item["metadata"]["name"] for item in found.json()["items"]]

    def _cluster_queue(self, name: str, flavor: str, **spec: Any) -> None:
        resources = [{"name": "cpu", "nominalQuota": "3"}, {"name": "memory", "nominalQuota": "16Gi"}]
        flavors = [{"name": flavor, "resources": resources}]
        self._post(
            f"{KUEUE}/clusterqueues",
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "ClusterQueue",
                "metadata": {"name": f"{self.namespace}-{name}"},
                "spec": {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
                    "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": flavors}],
                    **spec,
                },
            },
        )

    def _local_queue(self, name: str, cluster_queue: str, **spec: Any) -> None:
        self._post(
            f"{KUEUE}/namespaces/{self.namespace}/localqueues",
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "LocalQueue",
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {"clusterQueue": f"{self.namespace}-{cluster_queue}", **spec},
            },
        )

    def _create(self, plural: str, manifest: Mapping[str, Any]) -> None:
        self._post(f"{RAY}/namespaces/{self.namespace}/{plural}", manifest)

    def _post(self, path: str, manifest: Mapping[str, Any]) -> None:
        answer = self._client.post(path, json=manifest)
        assert answer.status_code == 201, answer.text


def asking(cluster: Mapping[str, Any], cpus: str) -> dict[str, Any]:
    """A RayCluster's spec whose head and workers ask for CPUs; none: for nothing."""
    spec = copy.deepcopy(dict(cluster))
    if cpus:
        for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
            for container in group["template"]["spec"]["containers"]:
                container["resources"] = {"requests": {"cpu": cpus}, "limits": {"cpu": cpus}}
    return spec
