"""The schemas that come with this package: one compact JSON file for all patch releases of a minor version."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from kuberay_model.schemas.crds import SchemaError
from kuberay_model.schemas.factoring import expanded, factored
from kuberay_model.schemas.schema import Schema
from kuberay_model.sentences import listed
from kuberay_model.versions import Version

_PACKAGE = "kuberay_model.schemas"
_SUFFIX = ".json"


@cache
def known() -> tuple[Version, ...]:
    """Return the versions whose schemas come with this package, oldest first."""
    names = (file.name for file in resources.files(_PACKAGE).iterdir())
    return tuple(sorted(Version.parse(name.removesuffix(_SUFFIX)) for name in names if name.endswith(_SUFFIX)))


def find(version: Version) -> Schema | None:
    """Return the schema of a version, None if it does not come with this package.

    CRDs do not change between the patch releases of a minor version.
    """
    for candidate in known():
        if (candidate.major, candidate.minor) == (version.major, version.minor):
            return _read(candidate)
    return None


def load(version: Version) -> Schema:
    """Return the schema of a version.

    Raises:
        SchemaError: It does not come with this package.
    """
    if (schema := find(version)) is None:
        raise SchemaError(
            f"There is no schema of KubeRay {version} here, only of {listed(map(str, known()))}; give its CRDs with "
            "--crds FILE, --crds FOLDER or --crds cluster."
        )
    return schema


def render(schema: Schema) -> str:
    """Write a schema as its file has it: JSON without blanks, each definition on a line of its own."""
    document = factored(schema.kinds)
    parts = [f"{json.dumps(part)}:{{\n{','.join(_lines(document[part]))}\n}}" for part in ("kinds", "$defs")]
    return "{" + ",\n".join(parts) + "}\n"


def _lines(entries: dict[str, object]) -> list[str]:
    texts = [f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}" for name, value in entries.items()]
    return [text if i == 0 else f"\n{text}" for i, text in enumerate(texts)]


@cache
def _read(version: Version) -> Schema:
    text = (resources.files(_PACKAGE) / f"{version}{_SUFFIX}").read_text(encoding="utf-8")
    return Schema(f"KubeRay {version}", expanded(json.loads(text)))
