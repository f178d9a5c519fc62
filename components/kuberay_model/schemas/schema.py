"""The structure of every kind of one KubeRay version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("RayJob", "RayCluster", "RayService", "RayCronJob")
"""The kinds of the API group `ray.io`."""

UNKNOWN_FIELD = "unknownField"
"""The keyword of a violation by a field that the object does not have; no schema has it."""
LIST_KEYS = "x-kubernetes-list-map-keys"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
INTEGERS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
"""The smallest and the largest integer of each format."""

Node = Mapping[str, Any]
"""A JSON Schema of one value, in the keywords that `kuberay_model.schemas.distil` keeps."""
Path = tuple[str | int, ...]
"""Where a value is in an object: names of fields, indices of lists, and `MapKey`s."""


class MapKey(str):
    """A key of a map in a path, where a field has a plain string."""

    __slots__ = ()


@dataclass(frozen=True)
class Violation:
    """A value that is not as its schema says.

    Attributes:
        keyword: The keyword of the schema, or `UNKNOWN_FIELD`.
        wanted: The value of the keyword.
        value: The value in the object; None if it is missing.
        path: Where it is, or should be.
    """

    keyword: str
    wanted: Any
    value: Any
    path: Path

    @property
    def place(self) -> str:
        """The path as messages have it: `spec.rayClusterSpec.headGroupSpec.rayStartParams[num-cpus]`."""
        parts = (f"[{key}]" if isinstance(key, int | MapKey) else f".{key}" for key in self.path)
        return "".join(parts).removeprefix(".")


@dataclass(frozen=True, eq=False)
class Schema:
    """The structure of the kinds of one KubeRay version.

    Attributes:
        source: Where it is from, for messages: `KubeRay 1.6.2`, or the file or folder of the CRDs.
        kinds: A JSON Schema per kind; parts that occur more than once are one and the same mapping.
    """

    source: str
    kinds: Mapping[str, Node]

    def node(self, kind: str, path: Iterable[str | int]) -> Node | None:
        """Return the schema at a path of an object, None if the kind has no such field."""
        found: Node | None = self.kinds.get(kind)
        for key in path:
            if found is None:
                return None
            child = found.get("items") if isinstance(key, int) else found.get("properties", {}).get(key)
            found = found.get("additionalProperties") if child is None else child
        return found
