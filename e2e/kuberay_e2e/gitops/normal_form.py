"""The form of an object in Git: what a person declares, and nothing that a server or a controller writes.

Argo CD and Flux bring back every field that Git has. A field that a controller writes too would be written back and
forth for ever, so it is not in Git.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from kuberay_e2e.errors import InputError

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
RAY_GROUP = "ray.io"

CLUSTER_PATHS: Mapping[str, tuple[str, ...]] = {
    "RayCluster": ("spec",),
    "RayJob": ("spec", "rayClusterSpec"),
    "RayService": ("spec", "rayClusterConfig"),
    "RayCronJob": ("spec", "jobTemplate", "rayClusterSpec"),
}
"""Where the spec of a RayCluster is, by kind."""

SERVER_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""Fields of `metadata` that the API server and controllers write."""

_TOOL_ANNOTATIONS = ("pulumi.com/", "kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/")
_AUTOSCALED = ("replicas", "scaleStrategy")


@dataclass(frozen=True)
class Mutated:
    """A field that something in the cluster writes.

    Attributes:
        path: The field, such as `spec.workerGroupSpecs[0].replicas`.
        writer: Who writes it.
        value: Its value.
    """

    path: str
    writer: str
    value: Any


def normal_form(manifest: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mutated]]:
    """Return an object as it belongs into Git, and the fields with a meaning that were left out for that.

    Args:
        manifest: The object, whole numbers as int or as float.

    Raises:
        InputError: A number has no exact form.
    """
    copy: dict[str, Any] = _clean(manifest)
    copy.pop("status", None)
    metadata = {key: value for key, value in copy.get("metadata", {}).items() if key not in SERVER_METADATA}
    annotations = metadata.pop("annotations", None) or {}
    if kept := {key: value for key, value in annotations.items() if not key.startswith(_TOOL_ANNOTATIONS)}:
        metadata["annotations"] = kept
    if not metadata.get("labels", True):
        del metadata["labels"]
    copy["metadata"] = metadata
    left_out = []
    for field, remove in _mutated(copy):
        left_out.append(field)
        remove()
    return copy, [field for field in left_out if field.value is not False]


def mutated_fields(manifest: Mapping[str, Any]) -> list[Mutated]:
    """Return the fields of an object that something in the cluster writes."""
    found = [
        Mutated(f"metadata.{key}", "The API server", value)
        for key, value in manifest.get("metadata", {}).items()
        if key in SERVER_METADATA
    ]
    if "status" in manifest:
        found.append(Mutated("status", "A controller", manifest["status"]))
    return found + [field for field, _ in _mutated(manifest)]


def group(manifest: Mapping[str, Any]) -> str:
    """Return the API group of an object, empty for the core group."""
    return str(manifest.get("apiVersion", "")).rpartition("/")[0]


def cluster_spec(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of the RayCluster in an object of KubeRay, empty if it has none."""
    value: Any = manifest
    for key in CLUSTER_PATHS.get(str(manifest.get("kind")), ("",)):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def in_queue(manifest: Mapping[str, Any]) -> bool:
    """Tell whether an object waits in a queue of Kueue."""
    return QUEUE_LABEL in (manifest.get("metadata", {}).get("labels") or {})


def _mutated(manifest: Any) -> Iterator[tuple[Mutated, Callable[[], object]]]:
    if group(manifest) != RAY_GROUP:
        return
    spec = manifest.get("spec")
    if isinstance(spec, dict) and "suspend" in spec and (in_queue(manifest) or spec["suspend"] is False):
        yield Mutated("spec.suspend", "Kueue", spec["suspend"]), lambda: spec.pop("suspend")
    cluster = cluster_spec(manifest)
    groups = cluster.get("workerGroupSpecs") if cluster.get("enableInTreeAutoscaling") is True else None
    place = ".".join(CLUSTER_PATHS.get(str(manifest.get("kind")), ()))
    for index, workers in enumerate(groups if isinstance(groups, list) else []):
        for key in [key for key in _AUTOSCALED if isinstance(workers, dict) and key in workers]:
            field = Mutated(f"{place}.workerGroupSpecs[{index}].{key}", "The Ray autoscaler", workers[key])
            yield field, lambda workers=workers, key=key: workers.pop(key)  # type: ignore[misc]


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_clean(item) for item in value if item is not None]
    if isinstance(value, float):
        if not isfinite(value):
            raise InputError(f"The number {value} has no form in JSON; give a finite number.")
        return int(value) if value.is_integer() else value
    return value
