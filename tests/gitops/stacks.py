"""Stacks for tests: projects on disk, and objects as a program declares them."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e.gitops import folder
from kuberay_e2e.gitops.declared import Declared
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.rendering import Order, rendered_stack
from kuberay_e2e.gitops.secret import Secrets

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://git.example.com/team/clusters.git"

POD = {
    "spec": {
        "containers": [
            {
                "name": "ray",
                "image": "rayproject/ray:2.52.0",
                "resources": {
                    "limits": {"cpu": "1", "memory": "2Gi"},
                    "requests": {"cpu": "1", "memory": "2Gi"},
                },
            }
        ]
    }
}


def project(place: Path, config: Mapping[str, Any], stack: str = "dev", program: str | None = None) -> Path:
    """Write a Pulumi project: the program of this repository, or one given as text."""
    place.mkdir(parents=True, exist_ok=True)
    main = str(ROOT / "stacks") if program is None else "."
    if program is not None:
        (place / "__main__.py").write_text(program)
    (place / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "kuberay", "runtime": "python", "main": main}))
    content = {"config": {f"kuberay:{key}": value for key, value in config.items()}}
    (place / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump(content))
    return place


def ray_job(name: str = "train", **spec: Any) -> dict[str, Any]:
    """A RayJob that KubeRay takes and policies like."""
    worker = {"groupName": "cpu", "replicas": 1, "minReplicas": 0, "maxReplicas": 2, "rayStartParams": {}}
    fields = {
        "entrypoint": "python train.py",
        "activeDeadlineSeconds": 3600,
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": 60,
        "submissionMode": "HTTPMode",
        "rayClusterSpec": {
            "rayVersion": "2.52.0",
            "authOptions": {"mode": "token"},
            "headGroupSpec": {"rayStartParams": {}, "template": POD},
            "workerGroupSpecs": [{**worker, "template": POD}],
        },
        **spec,
    }
    labels = {"kueue.x-k8s.io/queue-name": "team"}
    return copy.deepcopy(
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayJob",
            "metadata": {"name": name, "namespace": "ml", "labels": labels},
            "spec": fields,
        }
    )


def namespace(name: str = "ml") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def local_queue(name: str = "team") -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"clusterQueue": "all"},
    }


def declared(*manifests: Mapping[str, Any]) -> list[Declared]:
    """Objects as the program of a user declares them."""
    return [Declared(manifest) for manifest in manifests]


def small_stack() -> list[Declared]:
    """A namespace, its queue, and a job in that queue."""
    return declared(namespace(), local_queue(), ray_job())


def write(
    place: Path,
    objects: Sequence[Declared],
    layout: Layout = Layout.PLAIN,
    *,
    stack: str = "dev",
    secrets: Secrets = Secrets.REFUSE,
) -> Path:
    """Render objects into a folder."""
    order = Order(stack, layout=layout, repository=REPOSITORY, secrets=secrets)
    folder.replace(place, rendered_stack(objects, order).files)
    return place
