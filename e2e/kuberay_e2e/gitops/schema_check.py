"""Every custom object against the openAPIV3Schema of its CRD; unknown fields are errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.normal_form import RAY_GROUP
from kuberay_e2e.gitops.stage import CRD, KUEUE_GROUP
from kuberay_e2e.gitops.tree import Item, Tree
from kuberay_model import schemas
from kuberay_model.schemas import UNKNOWN_FIELD, Violation
from kuberay_model.schemas.checking import violations
from kuberay_model.schemas.distil import distil
from kuberay_model.sentences import listed, nearest
from kuberay_model.versions import Version
from kuberay_policies.reading import read

RULE = "schema"
_CHECKED_GROUPS = (RAY_GROUP, KUEUE_GROUP)

Kind = tuple[str, str]
"""API group and kind."""


@dataclass
class Definitions:
    """The schemas of custom objects by kind and version.

    Attributes:
        crds: CRDs by the kind that they define.
        version: KubeRay version, for kinds whose CRD is not at hand; None if it is not known.
    """

    crds: Mapping[Kind, Mapping[str, Any]]
    version: Version | None

    def __post_init__(self) -> None:
        self._known: dict[tuple[Kind, str], Mapping[str, Any] | None] = {}

    def versions(self, kind: Kind) -> list[str]:
        """Return the served versions of a kind, empty if nothing is known of it."""
        if kind in self.crds:
            return [str(entry.get("name")) for entry in _versions(self.crds[kind]) if entry.get("served") is not False]
        return ["v1"] if self._own(kind) is not None else []

    def schema(self, kind: Kind, version: str) -> Mapping[str, Any] | None:
        """Return the schema of a kind in a version, None if there is none."""
        if (kind, version) not in self._known:
            self._known[kind, version] = self._made(kind, version)
        return self._known[kind, version]

    def _made(self, kind: Kind, version: str) -> Mapping[str, Any] | None:
        if kind not in self.crds:
            return self._own(kind) if version == "v1" else None
        for entry in _versions(self.crds[kind]):
            schema = (entry.get("schema") or {}).get("openAPIV3Schema")
            if entry.get("name") == version and isinstance(schema, Mapping) and "properties" in schema:
                return distil(schema)
        return None

    def _own(self, kind: Kind) -> Mapping[str, Any] | None:
        found = schemas.find(self.version) if self.version and kind[0] == RAY_GROUP else None
        return found.kinds.get(kind[1]) if found else None


def definitions(tree: Tree, extra: Sequence[Path], version: Version | None) -> Definitions:
    """Return the schemas for a folder: from its own CRDs, then from others, then those of the KubeRay version.

    Args:
        tree: The folder.
        extra: Files and folders with CRDs of kinds that the folder does not define.
        version: KubeRay version.

    Raises:
        InputError: There is no CRD in a file or a folder.
    """
    found = {_defined(item.manifest): item.manifest for item in tree.by_kind.get(CRD, ())}
    for place in extra:
        inputs = read([str(place)])
        crds = {_defined(item.manifest): item.manifest for item in inputs.subjects if item.kind == CRD}
        if not crds:
            raise InputError(
                f"There is no CustomResourceDefinition in {place}; --crds takes a file or a folder with some."
            )
        found = {**crds, **found}
    return Definitions(found, version)


def findings(tree: Tree, known: Definitions) -> Iterator[Finding]:
    """Compare the custom objects with their schemas."""
    told: set[Kind] = set()
    for item in tree.objects:
        kind = item.subject.group, item.subject.kind
        version = item.subject.api_version.rpartition("/")[2]
        if kind not in known.crds and kind[0] not in _CHECKED_GROUPS:
            continue
        served = known.versions(kind)
        schema = known.schema(kind, version)
        if not served:
            if kind not in told:
                told.add(kind)
                message = f"no {kind[1]} is checked, because its CRD is neither in the folder nor given by --crds."
                yield item.finding(RULE, message, Severity.WARNING)
        elif version not in served:
            yield item.finding(RULE, f"its CRD has no version {version}, only {listed(served)}; use one of them.")
        elif schema is not None:
            yield from _compared(item, schema)


def _compared(item: Item, schema: Mapping[str, Any]) -> Iterator[Finding]:
    manifest = {key: value for key, value in item.manifest.items() if key not in ("apiVersion", "kind")}
    node = {**schema, "properties": {**schema["properties"], "apiVersion": {}, "kind": {}}}
    for found in violations(node, manifest):
        yield item.finding(RULE, f"{found.place}: {sentence(found, node)}", path=found.place)


def sentence(found: Violation, schema: Mapping[str, Any]) -> str:
    """Say what is wrong with a value."""
    if found.keyword == UNKNOWN_FIELD:
        name = str(found.path[-1])
        similar = nearest(name, _siblings(schema, found))
        hint = f"did you mean {similar}?" if similar else "remove it."
        return f"there is no such field in this version, and the API server drops it; {hint}"
    match found.keyword:
        case "required":
            return "it is missing, and the CRD requires it."
        case "type":
            wanted = found.wanted if isinstance(found.wanted, str) else listed(found.wanted, "or")
            return f"expected {wanted}, got {found.value!r:.60}."
        case "enum":
            return f"expected {listed(map(repr, found.wanted), 'or')}, got {found.value!r:.60}."
    return f"expected {found.keyword} {found.wanted}, got {found.value!r:.60}."


def _siblings(schema: Mapping[str, Any], found: Violation) -> list[str]:
    node: Any = schema
    for key in found.path[:-1]:
        if not isinstance(node, Mapping):
            return []
        child = node.get("items") if isinstance(key, int) else (node.get("properties") or {}).get(key)
        node = node.get("additionalProperties") if child is None else child
    return list(node.get("properties") or ()) if isinstance(node, Mapping) else []


def _defined(crd: Mapping[str, Any]) -> Kind:
    spec = crd.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    names = spec.get("names")
    return str(spec.get("group")), str(names.get("kind") if isinstance(names, Mapping) else None)


def _versions(crd: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    versions = crd["spec"].get("versions")
    return [entry for entry in versions if isinstance(entry, Mapping)] if isinstance(versions, list) else []
