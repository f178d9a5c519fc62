"""A RayJob in Git is one run: its name carries what it runs, so that an edit is a new object.

KubeRay reads most of a RayJob once and ignores edits of that. An engine that applies an edit would tell everybody that
all is in sync, and nothing would run. With the run in the name, an edit makes a new RayJob, and the engine prunes the
old one. A run that is over keeps its object, which is why no engine has anything to create again.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_model.rules.metadata import NAME_LENGTH

RUN_ANNOTATION = "pulumi-kuberay/run"
"""Annotation with a hash of the fields that KubeRay reads once, as they stand in the file."""

HASH_LENGTH = 8
READ_EACH_TIME = frozenset(
    {
        "activeDeadlineSeconds",
        "backoffLimit",
        "deletionStrategy",
        "preRunningDeadlineSeconds",
        "shutdownAfterJobFinishes",
        "suspend",
        "ttlSecondsAfterFinished",
    }
)
"""Fields of the spec that KubeRay reads at each reconcile, so that edits of them change the run that is there."""

_HEXADECIMAL = re.compile(rf"[0-9a-f]{{{HASH_LENGTH}}}")
_HASHED = re.compile(rf"(?P<base>.+)-[0-9a-f]{{{HASH_LENGTH}}}")


def as_run(manifest: Mapping[str, Any], identity: str, *, named: bool) -> dict[str, Any]:
    """Return a RayJob under the name of its run, with the annotation.

    Args:
        manifest: The RayJob in its normal form.
        identity: What the program says of its run; empty if it says nothing, and its spec alone tells it.
        named: Whether the program has put the run into the name already.

    Raises:
        InputError: With the run the name would be longer than KubeRay allows.
    """
    metadata = manifest["metadata"]
    digest = run_hash(manifest)
    name = str(metadata["name"])
    if not named:
        run = identity or digest
        if not _HEXADECIMAL.match(run):
            run = hashlib.sha256(run.encode()).hexdigest()
        name = f"{name}-{run[:HASH_LENGTH]}"
    if len(name) > NAME_LENGTH:
        longest = NAME_LENGTH - HASH_LENGTH - 1
        raise InputError(
            f"RayJob {metadata.get('namespace', 'default')}/{metadata['name']}: its name has "
            f"{len(str(metadata['name']))} characters, and with the run in it KubeRay allows {longest}; shorten it."
        )
    annotations = {**(metadata.get("annotations") or {}), RUN_ANNOTATION: digest[:16]}
    return {**manifest, "metadata": {**metadata, "name": name, "annotations": annotations}}


def base_name(name: str) -> str:
    """Return the name of a job without its run: `train` for `train-0a1b2c3d`."""
    match = _HASHED.fullmatch(name)
    return match["base"] if match else name


def carries_run(name: str) -> bool:
    """Tell whether a name ends with a run."""
    return _HASHED.fullmatch(name) is not None


def run_hash(manifest: Mapping[str, Any]) -> str:
    """Return a hash (SHA-256, hexadecimal) of the fields that KubeRay reads once."""
    once = {key: value for key, value in manifest.get("spec", {}).items() if key not in READ_EACH_TIME}
    return hashlib.sha256(json.dumps(once, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
