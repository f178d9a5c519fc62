"""YAML files of Kubernetes objects, sorted by what has to be there first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from config_errors import ConfigError
from stack_file import PROJECT

from kuberay_model.yaml_loader import Loader

Manifest = Mapping[str, Any]

_CLUSTER_SCOPED = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "Namespace",
        "PersistentVolume",
        "PriorityClass",
        "RuntimeClass",
        "StorageClass",
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "WorkloadPriorityClass",
    }
)
_RAY_GROUP = "ray.io/"


@dataclass(frozen=True)
class StackManifests:
    """The objects of a stack in three waves.

    Attributes:
        namespaces: Namespaces, which come first.
        settings: What Ray objects need: ConfigMaps, Secrets, ServiceAccounts and all other kinds.
        ray: RayJobs and the other kinds of the group ray.io, which come last.
    """

    namespaces: tuple[Manifest, ...] = ()
    settings: tuple[Manifest, ...] = ()
    ray: tuple[Manifest, ...] = ()

    @classmethod
    def read(cls, files: Iterable[Path], namespace: str) -> "StackManifests":
        """Read the files.

        Args:
            files: YAML files with one or more objects each; a ``List`` counts as its items.
            namespace: Namespace for namespaced objects that name none.

        Raises:
            ConfigError: A file cannot be read, is not YAML, or holds something that is no object with a name.
        """
        return cls.of((item for file in files for item in _objects(file)), namespace)

    @classmethod
    def of(cls, objects: Iterable[Manifest], namespace: str) -> "StackManifests":
        """Sort objects into the waves.

        Raises:
            ConfigError: An object is a CRD, or two objects are one.
        """
        waves: dict[str, list[Manifest]] = {"namespaces": [], "settings": [], "ray": []}
        seen: set[str] = set()
        for item in objects:
            placed = _placed(item, namespace)
            identity = f"{placed['apiVersion']} {placed['kind']} {resource_name(placed)}"
            if identity in seen:
                raise ConfigError(f"The files of {PROJECT}:manifests hold {identity} twice; remove one.")
            seen.add(identity)
            waves[_wave(placed)].append(placed)
        return cls(**{wave: tuple(items) for wave, items in waves.items()})


def resource_name(manifest: Manifest) -> str:
    """Return the logical name of an object's resource: its namespace and name, unique within its kind."""
    metadata = manifest["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def _wave(manifest: Manifest) -> str:
    if manifest["kind"] == "Namespace":
        return "namespaces"
    if manifest["kind"] == "CustomResourceDefinition":
        raise ConfigError(
            f"The files of {PROJECT}:manifests hold the CRD {manifest['metadata']['name']}; CRDs of KubeRay "
            f"belong to {PROJECT}:crds, which protects them."
        )
    return "ray" if str(manifest["apiVersion"]).startswith(_RAY_GROUP) else "settings"


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    if manifest["kind"] in _CLUSTER_SCOPED or "namespace" in manifest["metadata"]:
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def _objects(file: Path) -> Iterator[Manifest]:
    try:
        documents = list(yaml.load_all(file.read_bytes(), Loader=Loader))
    except OSError as error:
        raise ConfigError(
            f"The file {str(file)!r} of {PROJECT}:manifests cannot be read: {error.strerror}; paths are "
            "relative to the program's folder."
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"The file {str(file)!r} of {PROJECT}:manifests is not valid YAML: {error}") from error
    for document in documents:
        is_list = isinstance(document, Mapping) and document.get("kind") == "List"
        for item in document.get("items") or [] if is_list else [document]:
            if item is not None:
                yield _object(item, file)


def _object(item: object, file: Path) -> Manifest:
    if isinstance(item, Mapping):
        metadata = item.get("metadata")
        if item.get("apiVersion") and item.get("kind") and isinstance(metadata, Mapping) and metadata.get("name"):
            return item
    raise ConfigError(
        f"The file {str(file)!r} of {PROJECT}:manifests holds something that is not a Kubernetes object with "
        f"apiVersion, kind and metadata.name: {str(item)[:80]!r}."
    )
