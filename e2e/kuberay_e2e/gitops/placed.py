"""Where an object lies in a rendered folder: one object a file, under a name that stays."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from kuberay_e2e.gitops.job_run import base_name
from kuberay_e2e.gitops.normal_form import RAY_GROUP, group
from kuberay_e2e.gitops.stage import Stage

OBJECTS = "objects"
"""Folder of the objects, with one folder for each stage."""

_LONGEST = 200
_UNUSUAL = re.compile(r"[^A-Za-z0-9.-]")


@dataclass(frozen=True)
class Placed:
    """An object and its place.

    Attributes:
        manifest: The object as the file has it.
        stage: The stage that it belongs to.
    """

    manifest: Mapping[str, Any]
    stage: Stage

    @property
    def path(self) -> PurePosixPath:
        """The file, relative to the rendered folder."""
        return path_of(self.manifest, self.stage)


def path_of(manifest: Mapping[str, Any], stage: Stage) -> PurePosixPath:
    """Return the file of an object: `objects/70-ray-jobs/ml/rayjob.ray.io-train.yaml`.

    A RayJob's file is named without the run, so that an edit of the job is an edit of its file.
    """
    metadata = manifest["metadata"]
    name = str(metadata["name"])
    if is_ray_job(manifest):
        name = base_name(name)
    kind = str(manifest["kind"]).lower()
    api_group = group(manifest)
    file = f"{f'{kind}.{api_group}' if api_group else kind}-{_UNUSUAL.sub(_escaped, name)}"
    if len(file) > _LONGEST:
        file = f"{file[:_LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    folder = PurePosixPath(OBJECTS) / stage.folder
    namespace = str(metadata.get("namespace") or "")
    return (folder / namespace if namespace else folder) / f"{file}.yaml"


def is_ray_job(manifest: Mapping[str, Any]) -> bool:
    """Tell whether an object is a RayJob of KubeRay."""
    return manifest.get("kind") == "RayJob" and group(manifest) == RAY_GROUP


def identity(manifest: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return API group, kind, namespace and name, by which the API server tells objects apart."""
    metadata = manifest.get("metadata") or {}
    name = str(metadata.get("name") or "")
    return group(manifest), str(manifest.get("kind")), str(metadata.get("namespace") or ""), name


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())
