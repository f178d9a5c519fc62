"""A kustomization laid over the user's own, which gives it the component's settings."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulumi_kuberay.cache import cache_folder, write_atomically
from pulumi_kuberay.errors import ArgumentError

_FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LEFT_OUT = (("apiextensions.k8s.io/v1", "CustomResourceDefinition"), ("v1", "Namespace"))


def overlay(
    bases: Sequence[str],
    namespace: str,
    patch: Mapping[str, Any],
    patches: Sequence[Mapping[str, Any]],
    folder: Path,
) -> dict[str, Any]:
    """Return the content of the overlay's ``kustomization.yaml``.

    Args:
        bases: Absolute paths or addresses of the kustomizations underneath.
        namespace: Namespace that every object moves to.
        patch: Strategic merge patch of the operator's Deployment.
        patches: The user's own patches, applied last.
        folder: Where the overlay will be: kustomize wants the path of a base on this machine relative to it.
    """
    settings = {
        "target": {"kind": "Deployment", "name": patch["metadata"]["name"]},
        "patch": json.dumps(patch),
    }
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": namespace,
        "resources": [base if _is_address(base) else os.path.relpath(base, folder.resolve()) for base in bases],
        "patches": [*(_removal(*kind) for kind in _LEFT_OUT), settings, *patches],
    }


def existing_bases(paths: Sequence[str]) -> list[str]:
    """Return the absolute paths of kustomizations on this machine; addresses stay as they are.

    Raises:
        ArgumentError: There is none, or one is a folder without a ``kustomization.yaml``.
    """
    if not paths:
        raise ArgumentError("The kustomizations of KubeRayOperator have no path; name at least one folder.")
    return [path if _is_address(path) else _existing(path) for path in paths]


def write_overlay(
    bases: Sequence[str], namespace: str, patch: Mapping[str, Any], patches: Sequence[Mapping[str, Any]]
) -> Path:
    """Write the overlay to a folder of the project's cache named after its content.

    The same arguments give the same folder on every run, so nothing differs at the next ``pulumi up``.
    """
    identity = json.dumps([list(bases), namespace, patch, list(patches)], sort_keys=True)
    folder = cache_folder("kustomize") / hashlib.sha256(identity.encode()).hexdigest()[:32]
    content = overlay(bases, namespace, patch, patches, folder)
    write_atomically(folder / "kustomization.yaml", json.dumps(content, indent=2, sort_keys=True))
    return folder


def _removal(api_version: str, kind: str) -> dict[str, Any]:
    patch = {"$patch": "delete", "apiVersion": api_version, "kind": kind, "metadata": {"name": "all"}}
    return {"target": {"kind": kind}, "patch": json.dumps(patch)}


def _existing(base: str) -> str:
    folder = Path(base).expanduser().resolve()
    if not any((folder / name).is_file() for name in _FILE_NAMES):
        raise ArgumentError(
            f"The kustomization {base!r} has no kustomization.yaml; name a folder such as config/default of "
            "the KubeRay operator's module."
        )
    return str(folder)


def _is_address(base: str) -> bool:
    return "://" in base or base.startswith("github.com/")
