"""When an edit of a RayJob is a new run, and when it is not.

KubeRay reads most of a RayJob's spec once, when a run begins, and ignores edits of that. The rest it reads at each
reconcile, so that an edit takes effect on a run that is under way.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from kuberay_model.rules.metadata import NAME_LENGTH
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.scheduling import QUEUE_LABEL

LIVE = frozenset(
    {
        "activeDeadlineSeconds",
        "backoffLimit",
        "deletionStrategy",
        "preRunningDeadlineSeconds",
        "shutdownAfterJobFinishes",
        "ttlSecondsAfterFinished",
    }
)
"""Fields of the spec that KubeRay reads at each reconcile (`Reconcile` in `rayjob_controller.go`, v1.5.2 to v1.7.0)."""

HASH_LENGTH = 8


class RunNaming(StrEnum):
    """What a RayJob object is called when its run changes."""

    FIXED = "fixed"
    """Its own name: the object of the old run is deleted first, then the new one is created."""

    CONTENT_HASH = "content-hash"
    """Its own name and a hash of the run: the new object is created first, then the old one is deleted."""


def live_fields(manifest: Mapping[str, Any]) -> frozenset[str]:
    """Return the fields of the spec whose edits are made in place."""
    spec = manifest["spec"]
    labels = manifest["metadata"].get("labels") or {}
    by_hand = {"suspend"} if "suspend" in spec and QUEUE_LABEL not in labels else set()
    return LIVE | by_hand | ({"jobId"} if spec.get("submissionMode") == "InteractiveMode" else set())


def left_alone(manifest: Mapping[str, Any]) -> list[str]:
    """Return the property paths whose changes in the cluster are left as they are.

    Those are the fields that KubeRay reads only once, and ``spec.suspend`` where it is Kueue's. Kueue writes node
    selectors, tolerations and a submitter's template into them, and people scale a run by hand; neither may lead to
    another run.
    """
    live = live_fields(manifest)
    once = [key for key in manifest["spec"] if key not in live and key != "suspend"]
    return [f"spec.{key}" for key in [*once, *([] if "suspend" in live else ["suspend"])]]


def content_hash(manifest: Mapping[str, Any], run: str | None) -> str:
    """Return the identity of a run: a hash (SHA-256, hexadecimal) of what KubeRay reads once.

    Args:
        manifest: The RayJob, with every value known.
        run: What else tells one run from another.
    """
    live = live_fields(manifest)
    once = {key: value for key, value in manifest["spec"].items() if key not in live and key != "suspend"}
    text = json.dumps([_canonical(once), run], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return list(_items(value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _items(values: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    return (_canonical(value) for value in values)


def run_name(manifest: Mapping[str, Any], identity: str, naming: RunNaming | None) -> Mapping[str, Any]:
    """Return a RayJob with the name of its run.

    Args:
        manifest: The RayJob.
        identity: Its `content_hash`.
        naming: How runs are named. Default: fixed.

    Raises:
        ArgumentError: With the hash the name is too long, or there is no name.
    """
    if naming is None or RunNaming(naming) is RunNaming.FIXED:
        return manifest
    name = manifest["metadata"].get("name")
    if not isinstance(name, str):
        raise ArgumentError("A RayJob whose name carries a content hash needs a name to begin with; set metadata.name.")
    longest = NAME_LENGTH - HASH_LENGTH - 1
    if len(name) > longest:
        raise ArgumentError(
            f"The name {name!r} of a RayJob may have {longest} characters when a content hash is added to it, because "
            f"KubeRay allows {NAME_LENGTH}, but it has {len(name)}; shorten it, or use the naming fixed."
        )
    return {**manifest, "metadata": {**manifest["metadata"], "name": f"{name}-{identity[:HASH_LENGTH]}"}}
