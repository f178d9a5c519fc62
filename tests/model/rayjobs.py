"""A RayJob that every version accepts, and ways to change it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

Manifest = dict[str, Any]
Change = Callable[[Manifest], None]

HEAD = "spec.rayClusterSpec.headGroupSpec"
WORKER = "spec.rayClusterSpec.workerGroupSpecs.0"
CLUSTER = "spec.rayClusterSpec"
CONTAINER = f"{HEAD}.template.spec.containers.0"

_GOOD: Manifest = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {
        "entrypoint": "python train.py",
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": {
            "rayVersion": "2.52.0",
            "headGroupSpec": {
                "rayStartParams": {},
                "template": {"spec": {"containers": [{"name": "ray-head", "image": "rayproject/ray:2.52.0"}]}},
            },
            "workerGroupSpecs": [
                {
                    "groupName": "small",
                    "replicas": 1,
                    "minReplicas": 1,
                    "maxReplicas": 2,
                    "rayStartParams": {},
                    "template": {"spec": {"containers": [{"name": "ray-worker", "image": "rayproject/ray:2.52.0"}]}},
                }
            ],
        },
    },
}


def good(*changes: Change) -> Manifest:
    """Return the good RayJob after the changes."""
    manifest = copy.deepcopy(_GOOD)
    for change in changes:
        change(manifest)
    return manifest


def put(path: str, value: Any) -> Change:
    """Set the field at a dotted path; numbers are list indices, missing objects are made."""

    def change(manifest: Manifest) -> None:
        *parents, last = path.split(".")
        parent: Any = manifest
        for name in parents:
            parent = parent[int(name)] if isinstance(parent, list) else parent.setdefault(name, {})
        parent[int(last) if isinstance(parent, list) else last] = copy.deepcopy(value)

    return change


def spec(**fields: Any) -> Change:
    """Set fields of the spec."""

    def change(manifest: Manifest) -> None:
        manifest["spec"].update(copy.deepcopy(fields))

    return change


def without(path: str) -> Change:
    """Remove the field at a dotted path."""

    def change(manifest: Manifest) -> None:
        *parents, last = path.split(".")
        parent: Any = manifest
        for name in parents:
            parent = parent[int(name)] if isinstance(parent, list) else parent[name]
        del parent[int(last) if isinstance(parent, list) else last]

    return change


def annotated(name: str, value: str) -> Change:
    """Set an annotation, whose name may have dots."""

    def change(manifest: Manifest) -> None:
        manifest["metadata"].setdefault("annotations", {})[name] = value

    return change


def labelled(name: str, value: str) -> Change:
    """Set a label, whose name may have dots."""

    def change(manifest: Manifest) -> None:
        manifest["metadata"].setdefault("labels", {})[name] = value

    return change


def head_env(**variables: str) -> Change:
    """Set the environment of the Ray container of the head group."""
    return put(f"{CONTAINER}.env", [{"name": name, "value": value} for name, value in variables.items()])


def deletion_rule(policy: str, *conditions: Mapping[str, str], ttl: int = 0) -> Mapping[str, Any]:
    """Return a deletion rule."""
    condition: dict[str, Any] = {"ttlSeconds": ttl}
    for part in conditions:
        condition.update(part)
    return {"policy": policy, "condition": condition}


def rules(*entries: Mapping[str, Any]) -> Change:
    """Replace the shutdown by deletion rules."""

    def change(manifest: Manifest) -> None:
        manifest["spec"].pop("shutdownAfterJobFinishes", None)
        manifest["spec"]["deletionStrategy"] = {"deletionRules": [copy.deepcopy(entry) for entry in entries]}

    return change


def legacy(success: str | None, failure: str | None) -> Change:
    """Set the legacy deletion policies; None leaves one out."""
    pair = {"onSuccess": success, "onFailure": failure}
    return put(
        "spec.deletionStrategy",
        {name: {"policy": policy} for name, policy in pair.items() if policy is not None},
    )


def selecting(**fields: Any) -> Change:
    """Run on an existing RayCluster."""

    def change(manifest: Manifest) -> None:
        for name in ("rayClusterSpec", "shutdownAfterJobFinishes"):
            manifest["spec"].pop(name, None)
        manifest["spec"]["clusterSelector"] = {"ray.io/cluster": "shared"}
        manifest["spec"].update(copy.deepcopy(fields))

    return change


def autoscaled(version: str | None = None) -> Change:
    """Turn in-tree autoscaling on."""

    def change(manifest: Manifest) -> None:
        cluster = manifest["spec"]["rayClusterSpec"]
        cluster["enableInTreeAutoscaling"] = True
        if version is not None:
            cluster["autoscalerOptions"] = {"version": version}

    return change
