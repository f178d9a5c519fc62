"""The kustomization.yaml of each stage: which files kustomize takes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from kuberay_e2e.gitops.placed import OBJECTS, Placed
from kuberay_e2e.gitops.stage import Stage

FILE = "kustomization.yaml"


def kustomization(resources: Iterable[str]) -> dict[str, Any]:
    """Return a kustomization of files and folders, sorted."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(resources),
    }


def stages(objects: Sequence[Placed]) -> list[Stage]:
    """Return the stages that have objects, in their order."""
    present = {item.stage for item in objects}
    return [stage for stage in Stage if stage in present]


def files(objects: Sequence[Placed]) -> dict[str, Mapping[str, Any]]:
    """Return a kustomization.yaml for each stage, by path."""
    found: dict[str, Mapping[str, Any]] = {}
    for stage in stages(objects):
        folder = PurePosixPath(OBJECTS) / stage.folder
        own = (str(item.path.relative_to(folder)) for item in objects if item.stage is stage)
        found[str(folder / FILE)] = kustomization(own)
    return found
