"""Kubernetes manifests read from YAML files, each object with its file and line.

Stricter than YAML: a repeated key, an object without a name and an object given twice are errors, because
what is applied would not be what the file seems to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_model.sentences import listed
from kuberay_model.yaml_documents import DocumentError, YamlDocument
from kuberay_model.yaml_documents import documents as yaml_documents

RAY_GROUP = "ray.io"


class ManifestError(ValueError):
    """A file or an object in it that cannot be used.

    Attributes:
        path: The file; None if no file is at fault.
        line: Line in the file, counted from 1; None if the whole file is at fault.
        message: What is wrong and what to do.
    """

    def __init__(self, path: Path | None, line: int | None, message: str) -> None:
        super().__init__(path, line, message)
        self.path = path
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{place}: {self.message}" if place else self.message


@dataclass(frozen=True)
class Document:
    """One Kubernetes object of a file.

    Attributes:
        path: The file.
        line: Line at which the object begins, counted from 1.
        manifest: The object.
    """

    path: Path
    line: int
    manifest: Mapping[str, Any]

    @property
    def api_version(self) -> str:
        """`apiVersion`, such as `ray.io/v1`."""
        return str(self.manifest["apiVersion"])

    @property
    def kind(self) -> str:
        """`kind`, such as `RayJob`."""
        return str(self.manifest["kind"])

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return str(self.manifest["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; empty if the one of the kubeconfig is meant."""
        return str(self.manifest["metadata"].get("namespace") or "")

    @property
    def group(self) -> str:
        """API group; empty for the core group."""
        group, slash, _ = self.api_version.rpartition("/")
        return group if slash else ""

    @property
    def location(self) -> str:
        """File and line, as editors and terminals link them."""
        return f"{self.path}:{self.line}"


def load(path: Path | str) -> list[Document]:
    """Read every object of a YAML file.

    Documents that are empty are skipped, and lists such as `RayJobList` are replaced by their items.

    Args:
        path: A file in UTF-8.

    Raises:
        ManifestError: The file cannot be read, is no YAML, or holds something that is no named object; an
            object is given twice.
    """
    file = Path(path)
    documents = [found for document in _parsed(file, _read(file)) for found in _objects(file, document)]
    first: dict[tuple[str, str, str, str], Document] = {}
    for document in documents:
        identity = (document.group, document.kind, document.namespace, document.name)
        other = first.setdefault(identity, document)
        if other is not document:
            raise ManifestError(
                file,
                document.line,
                f"{document.kind} {document.name} is already given at line {other.line}; remove one.",
            )
    return documents


def rayjob(documents: Sequence[Document]) -> Document:
    """Return the only RayJob among the documents.

    Raises:
        ManifestError: There is none, or there are several.
    """
    found = [document for document in documents if document.kind == "RayJob" and document.group == RAY_GROUP]
    if len(found) == 1:
        return found[0]
    if found:
        names = listed(f"{document.name} ({document.location})" for document in found)
        raise ManifestError(
            found[1].path, found[1].line, f"One RayJob is expected, but there are {len(found)}: {names}."
        )
    path = documents[0].path if documents else None
    kinds = listed(sorted({document.kind for document in documents})) if documents else "nothing"
    raise ManifestError(path, None, f"One RayJob of {RAY_GROUP}/v1 is expected, but there is {kinds}.")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ManifestError(file, None, "There is no such file; check the path.") from None
    except IsADirectoryError:
        raise ManifestError(file, None, "This is a folder; give a YAML file.") from None
    except PermissionError:
        raise ManifestError(file, None, "The file may not be read; check its permissions.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ManifestError(file, line, "The file is not in UTF-8; save it as UTF-8 text.") from None
    except OSError as error:
        raise ManifestError(file, None, f"The file cannot be read: {error.strerror}.") from error


def _parsed(file: Path, source: str) -> Iterator[YamlDocument]:
    try:
        yield from yaml_documents(source)
    except DocumentError as error:
        raise ManifestError(file, error.line, error.message) from None


def _objects(file: Path, document: YamlDocument) -> Iterator[Document]:
    waiting = [(document.line, document.value)]
    while waiting:
        line, value = waiting.pop()
        if is_list(value):
            waiting += reversed(list(document.items(value["items"])))
        else:
            yield _object(file, line, value)


def is_list(value: Any) -> bool:
    """Tell whether a value is a list of Kubernetes objects, such as `List` or `RayJobList`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("items"), list):
        return False
    return str(value.get("kind")).endswith("List")


def _object(file: Path, line: int, value: Any) -> Document:
    if not isinstance(value, Mapping):
        kind = "list" if isinstance(value, list) else f"single value {value!r}"
        raise ManifestError(file, line, f"A Kubernetes object is a mapping, but this is a {kind}.")
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str) or not value[field]:
            raise ManifestError(file, line, f"The object has no {field}; every Kubernetes object has one.")
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if isinstance(name, str) and name:
        return Document(file, line, value)
    if name is not None and name != "":
        wrong = f"metadata.name of the {value['kind']} is {name!r}, which is no string; quote it."
    elif isinstance(metadata, Mapping) and metadata.get("generateName"):
        wrong = (
            f"The {value['kind']} has generateName instead of name, so each apply would create another one; "
            "set metadata.name."
        )
    else:
        wrong = f"The {value['kind']} has no metadata.name; set one."
    raise ManifestError(file, line, wrong)
