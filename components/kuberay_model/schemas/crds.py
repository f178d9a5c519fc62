"""Schemas from CRDs: files, folders, or objects as an API server answers them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kuberay_model.schemas.distil import distil
from kuberay_model.schemas.schema import KINDS, Schema
from kuberay_model.sentences import listed

GROUP = "ray.io"
VERSION = "v1"
SUFFIXES = (".yaml", ".yml", ".json")


class SchemaError(ValueError):
    """There is no schema, or none can be made from what was given."""


def from_crds(path: Path | str) -> Schema:
    """Make a schema from the CRDs in a YAML or JSON file, or in every such file of a folder.

    Raises:
        SchemaError: There is no such path, a file cannot be read, or there is no CRD of KubeRay.
    """
    place = Path(path)
    files = sorted(file for file in place.iterdir() if file.suffix in SUFFIXES) if place.is_dir() else [place]
    if not files:
        raise SchemaError(f"The folder {place} has no file that ends in {listed(SUFFIXES, 'or')}; give one with CRDs.")
    return from_objects((document for file in files for document in _documents(file)), str(place))


def from_objects(objects: Iterable[Mapping[str, Any]], source: str) -> Schema:
    """Make a schema from CustomResourceDefinitions; objects of other kinds and groups are passed over.

    Args:
        objects: The objects; a List is taken apart.
        source: Where they are from, for messages.

    Raises:
        SchemaError: There is no CRD of KubeRay among them, or one of them is none.
    """
    kinds = {}
    for crd in _flat(objects):
        if crd.get("kind") == "CustomResourceDefinition" and _at(crd, "spec", "group") == GROUP:
            kind = _at(crd, "spec", "names", "kind")
            if kind in KINDS:
                kinds[kind] = _distilled(crd, kind, source)
    if not kinds:
        raise SchemaError(
            f"{source} has no CustomResourceDefinition of {listed(KINDS, 'or')} ({GROUP}); give the CRDs of KubeRay, "
            "such as the folder crds of its Helm chart."
        )
    return Schema(source, {kind: kinds[kind] for kind in KINDS if kind in kinds})


def _distilled(crd: Mapping[str, Any], kind: str, source: str) -> Mapping[str, Any]:
    schema = _open_api_schema(crd, kind, source)
    try:
        return distil(schema)
    except (AttributeError, KeyError, TypeError) as error:
        raise SchemaError(
            f"The CustomResourceDefinition of {kind} in {source} is damaged ({error}); give it unchanged."
        ) from None


def _documents(file: Path) -> Sequence[Mapping[str, Any]]:
    # PyYAML is not needed by those who use the schemas that come with the package.
    import yaml

    from kuberay_model.yaml_loader import ManifestLoader

    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise SchemaError(f"The CRDs cannot be read from {file}: {error.strerror}; check the path.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"The CRDs cannot be read from {file}: it is not in UTF-8; give a text file.") from None
    try:
        documents = list(yaml.load_all(text, ManifestLoader))
    except yaml.YAMLError as error:
        raise SchemaError(
            f"The CRDs cannot be read from {file}: it is no YAML: {' '.join(str(error).split())}."
        ) from None
    return [document for document in documents if isinstance(document, Mapping)]


def _flat(objects: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for entry in objects:
        items = entry.get("items")
        if isinstance(items, list):
            yield from _flat(item for item in items if isinstance(item, Mapping))
        else:
            yield entry


def _open_api_schema(crd: Mapping[str, Any], kind: str, source: str) -> Mapping[str, Any]:
    versions = _at(crd, "spec", "versions")
    for version in versions if isinstance(versions, list) else ():
        schema = _at(version, "schema", "openAPIV3Schema")
        if _at(version, "name") == VERSION and isinstance(schema, Mapping) and "properties" in schema:
            return schema
    raise SchemaError(
        f"The CustomResourceDefinition of {kind} in {source} has no schema for {GROUP}/{VERSION}; "
        "give the CRDs of KubeRay 1.0 or later, unchanged."
    )


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
