"""A kustomization laid over the user's own, which gives it the component's settings."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulumi_kuberay.cache import cache_folder, write_atomically
from pulumi_kuberay.errors import ArgumentError

_LEFT_OUT = (("apiextensions.k8s.io/v1", "CustomResourceDefinition"), ("v1", "Namespace"))


def overlay(
    base: str, namespace: str, patch: Mapping[str, Any], patches: Sequence[Mapping[str, Any]], folder: Path
) -> dict[str, Any]:
    """Return the content of the overlay's ``kustomization.yaml``.

    Args:
        base: Path or address of the kustomization underneath.
        namespace: Namespace that every object moves to.
        patch: Strategic merge patch of the operator's Deployment.
        patches: The user's own patches, applied last.
        folder: Where the overlay will be: kustomize wants the path of a base on this machine relative to it.
    """
    removals = [
        {
            "target": {"kind": kind},
            "patch": json.dumps(
                {"$patch": "delete", "apiVersion": api_version, "kind": kind, "metadata": {"name": "all"}}
            ),
        }
        for api_version, kind in _LEFT_OUT
    ]
    settings = {
        "target": {"kind": "Deployment", "name": patch["metadata"]["name"]},
        "patch": json.dumps(patch),
    }
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": namespace,
        "resources": [base if _is_remote(base) else os.path.relpath(Path(base).resolve(), folder.resolve())],
        "patches": [*removals, settings, *patches],
    }


def write_overlay(
    base: str, namespace: str, patch: Mapping[str, Any], patches: Sequence[Mapping[str, Any]]
) -> Path:
    """Write the overlay to a folder of the project's cache named after its content.

    The same arguments give the same folder on every run, so nothing differs at the next ``pulumi up``.

    Raises:
        ArgumentError: The base is a folder on this machine without a ``kustomization.yaml``.
    """
    if not _is_remote(base) and not any(
        (Path(base).expanduser() / name).is_file()
        for name in ("kustomization.yaml", "kustomization.yml", "Kustomization")
    ):
        raise ArgumentError(
            f"The kustomization {base!r} has no kustomization.yaml; name a folder such as config/default of "
            "the KubeRay operator's module."
        )
    base = base if _is_remote(base) else str(Path(base).expanduser().resolve())
    identity = json.dumps([base, namespace, patch, list(patches)], sort_keys=True)
    folder = cache_folder("kustomize") / hashlib.sha256(identity.encode()).hexdigest()[:32]
    content = overlay(base, namespace, patch, patches, folder)
    write_atomically(folder / "kustomization.yaml", json.dumps(content, indent=2, sort_keys=True))
    return folder


def _is_remote(base: str) -> bool:
    return "://" in base or base.startswith("github.com/")
