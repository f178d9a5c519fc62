"""What an engine has to be told beside the objects: annotations, and objects of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kuberay_e2e.gitops.placed import Placed, is_ray_job
from kuberay_e2e.gitops.stage import CRD, wave_of

WITH_STATE = frozenset({CRD, "Namespace", "PersistentVolumeClaim", "PersistentVolume"})
"""Kinds whose deletion takes more with it than the object: it is never pruned."""

SYNC_WAVE = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
FLUX_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
FLUX_SSA = "kustomize.toolkit.fluxcd.io/ssa"


class Layout(StrEnum):
    """The engine that a folder is for."""

    ARGOCD = "argocd"
    FLUX = "flux"
    PLAIN = "plain"


@dataclass(frozen=True)
class Target:
    """Where the engine finds the folder.

    Attributes:
        stack: Name of the stack, part of the names of the engine's objects.
        path: Path of the rendered folder in its Git repository.
        repository: URL of that repository; empty if it is not known.
        revision: Branch, tag or commit that Argo CD follows.
    """

    stack: str
    path: str
    repository: str = ""
    revision: str = "HEAD"


def annotated(placed: Placed, kept: bool, layout: Layout) -> dict[str, Any]:
    """Return an object with the annotations of an engine.

    Args:
        placed: The object.
        kept: Whether it stays in the cluster when it goes from Git, whatever its kind.
        layout: The engine.
    """
    keep = kept or placed.manifest.get("kind") in WITH_STATE
    own = annotations(placed, keep, layout)
    if not own:
        return dict(placed.manifest)
    metadata = placed.manifest["metadata"]
    return {**placed.manifest, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **own}}}


def annotations(placed: Placed, keep: bool, layout: Layout) -> Mapping[str, str]:
    """Return the annotations that an engine needs on an object."""
    if layout is Layout.ARGOCD:
        options = ["ServerSideApply=true"] if placed.manifest.get("kind") == CRD else []
        options += ["Prune=false", "Delete=false"] if keep else []
        found = {SYNC_WAVE: str(wave_of(placed.manifest, placed.stage))}
        return {**found, SYNC_OPTIONS: ",".join(options)} if options else found
    if layout is Layout.FLUX:
        found = {FLUX_PRUNE: "disabled"} if keep else {}
        held_by_hand = "suspend" in (placed.manifest.get("spec") or {})
        return {**found, FLUX_SSA: "IfNotPresent"} if is_ray_job(placed.manifest) and not held_by_hand else found
    return {}


def engine_files(objects: Sequence[Placed], layout: Layout, target: Target) -> dict[str, Mapping[str, Any]]:
    """Return the files of the engine itself, by their paths in the rendered folder."""
    from kuberay_e2e.gitops import argocd, flux, kustomize

    if layout is Layout.ARGOCD:
        return argocd.files(objects, target)
    lists = kustomize.files(objects)
    return {**lists, **flux.files(objects, target)} if layout is Layout.FLUX else lists
