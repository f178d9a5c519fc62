"""What policies look at: Kubernetes objects with where they come from and, from Pulumi, with resource options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Final

_KEY = re.compile(r"\[(\d+)\]|\[([^\]]*)\]|\.?([^.\[\]]+)")


class Unknown(Enum):
    """The type of `UNKNOWN`."""

    UNKNOWN = "known only at deployment"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN
"""Stands in a manifest for a value that is known only at deployment, such as a Pulumi output in a preview."""


@dataclass(frozen=True)
class Source:
    """Where an object was read.

    Attributes:
        file: Path as the user gave it, `-` for standard input; None if it is not from a file.
        line: Line at which the object begins, counted from 1; None if unknown.
        document: Index of the YAML document in the file, counted from 0.
        pointer: Keys from the document to the object, such as `("items", 3)` in a list.
        urn: Pulumi's URN of the resource; None if it is not from Pulumi.
    """

    file: str | None = None
    line: int | None = None
    document: int = 0
    pointer: tuple[str | int, ...] = ()
    urn: str | None = None

    def __str__(self) -> str:
        if self.file is None:
            return self.urn or "unknown source"
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Options:
    """Pulumi's resource options, as far as policies look at them.

    Attributes:
        protect: Pulumi refuses to delete the resource.
        retain_on_delete: The object stays in the cluster when the resource is deleted.
        delete_before_replace: On replacement the old object is deleted first; None if not set.
        replace_on_changes: Properties whose change replaces the resource, such as `spec` or `*`; None if the
            front end cannot see them.
        ignore_changes: Properties whose change is ignored.
        depends_on: URNs of the resources this one depends on.
        parent: URN of the parent; empty if there is none.
        provider: URN of the provider; empty for the default provider.
    """

    protect: bool = False
    retain_on_delete: bool = False
    delete_before_replace: bool | None = None
    replace_on_changes: tuple[str, ...] | None = None
    ignore_changes: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    parent: str = ""
    provider: str = ""


@dataclass(frozen=True)
class Subject:
    """A Kubernetes object to check.

    Attributes:
        manifest: The object as plain mappings and lists, integers as `int`, `UNKNOWN` where a value is known
            only at deployment.
        source: Where it was read.
        options: Pulumi's resource options; None if the object is not from Pulumi.
    """

    manifest: Mapping[str, Any]
    source: Source = field(default_factory=Source)
    options: Options | None = None

    @property
    def api_version(self) -> str:
        """`apiVersion`, such as `ray.io/v1`; empty if unknown."""
        return _text(self.manifest.get("apiVersion"))

    @property
    def group(self) -> str:
        """API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def kind(self) -> str:
        """`kind`, such as `RayJob`; empty if unknown."""
        return _text(self.manifest.get("kind"))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """`metadata`, empty if unknown."""
        metadata = self.manifest.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}

    @property
    def name(self) -> str:
        """`metadata.name`; empty if unset or unknown."""
        return _text(self.metadata.get("name"))

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; empty if unset or unknown."""
        return _text(self.metadata.get("namespace"))

    @property
    def resource_name(self) -> str:
        """Pulumi's logical name of the resource, the last part of the URN; empty if not from Pulumi."""
        return self.source.urn.rpartition("::")[2] if self.source.urn else ""

    @property
    def title(self) -> str:
        """The object in a sentence, such as `RayJob ml/train`."""
        name = self.name or _text(self.metadata.get("generateName")) or self.resource_name or "without name"
        return f"{self.kind or 'Object'} {f'{self.namespace}/' if self.namespace else ''}{name}"

    @cached_property
    def unknown_paths(self) -> tuple[str, ...]:
        """Paths of every `UNKNOWN` in the manifest, such as `spec.rayClusterSpec.headGroupSpec.template`."""
        return tuple(_unknown_paths(self.manifest, ""))


def joined(path: str, key: object) -> str:
    """Return the path of a key or index below a path, written as in findings: `spec.a[0].b`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = str(key)
    if not path:
        return name
    return f"{path}[{name}]" if "." in name or "/" in name else f"{path}.{name}"


def keys(path: str) -> Iterator[str]:
    """Yield the keys and indices of a path that `joined` made."""
    for match in _KEY.finditer(path):
        yield next(group for group in match.groups() if group is not None)


def _unknown_paths(value: Any, path: str) -> Iterator[str]:
    if value is UNKNOWN:
        yield path
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _unknown_paths(inner, joined(path, key))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for index, inner in enumerate(value):
            yield from _unknown_paths(inner, f"{path}[{index}]")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
