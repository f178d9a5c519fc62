"""A rendered folder as it is read: its record, its objects, and the objects of the engine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.declared import title
from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.folder import PARTS, RECORD, Record
from kuberay_e2e.gitops.kustomize import FILE
from kuberay_e2e.gitops.placed import OBJECTS
from kuberay_e2e.gitops.stage import Stage
from kuberay_policies.reading import read
from kuberay_policies.subjects import Subject

_MOST_PROBLEMS = 10


@dataclass(frozen=True)
class Item:
    """An object of a rendered folder.

    Attributes:
        file: Its file, relative to the folder.
        subject: The object, as policies take it.
    """

    file: PurePosixPath
    subject: Subject

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The object."""
        return self.subject.manifest

    @property
    def title(self) -> str:
        """The object in a sentence."""
        return title(self.manifest)

    @property
    def stage(self) -> Stage | None:
        """The stage in whose folder it lies; None for another folder."""
        return Stage.of_folder(self.file.parts[1]) if len(self.file.parts) > 2 else None

    @property
    def annotations(self) -> Mapping[str, Any]:
        """Its annotations."""
        annotations = self.subject.metadata.get("annotations")
        return annotations if isinstance(annotations, Mapping) else {}

    def finding(self, rule: str, message: str, severity: Severity = Severity.ERROR, path: str = "") -> Finding:
        """Return a finding about this object."""
        line = self.subject.source.line or 0
        return Finding(str(self.file), line, rule, f"{self.title}: {message}", severity, path)


@dataclass(frozen=True)
class Tree:
    """A rendered folder.

    Attributes:
        folder: The folder.
        record: What it says of itself.
        objects: The objects that the engine applies.
        engine: The objects that tell the engine what to do.
        kustomizations: Every kustomization.yaml, by its folder.
        strangers: Files that hold no object.
    """

    folder: Path
    record: Record
    objects: tuple[Item, ...]
    engine: tuple[Item, ...]
    kustomizations: Mapping[PurePosixPath, Item]
    strangers: tuple[PurePosixPath, ...]

    @classmethod
    def read(cls, folder: Path) -> "Tree":
        """Read a rendered folder.

        Raises:
            InputError: It was not written by `kuberay-e2e render`, or files of it cannot be read as Kubernetes objects.
        """
        record = Record.of(folder)
        if not (folder / OBJECTS).is_dir():
            raise InputError(f"{folder} has a {RECORD} but no folder {OBJECTS}; render the stack {record.stack} again.")
        parts = sorted(str(folder / part) for part in PARTS - {RECORD} if (folder / part).is_dir())
        inputs = read(parts)
        if inputs.problems:
            told = [str(problem) for problem in inputs.problems[:_MOST_PROBLEMS]]
            more = len(inputs.problems) - len(told)
            raise InputError("\n".join([*told, *([f"… and {more} more."] if more else [])]))
        items = [Item(_relative(subject.source.file, folder), subject) for subject in inputs.subjects]
        lists = {item.file.parent: item for item in items if item.file.name == FILE}
        own = [item for item in items if item.file.name != FILE]
        return cls(
            folder,
            record,
            tuple(item for item in own if item.file.parts[0] == OBJECTS),
            tuple(item for item in own if item.file.parts[0] != OBJECTS),
            lists,
            tuple(_relative(file, folder) for file in inputs.others),
        )

    @cached_property
    def by_kind(self) -> Mapping[str, tuple[Item, ...]]:
        """The objects by kind."""
        found: dict[str, list[Item]] = {}
        for item in self.objects:
            found.setdefault(item.subject.kind, []).append(item)
        return {kind: tuple(items) for kind, items in found.items()}

    def of(self, group: str, *kinds: str) -> Iterator[Item]:
        """Yield the objects of an API group and kinds."""
        for kind in kinds:
            yield from (item for item in self.by_kind.get(kind, ()) if item.subject.group == group)


def _relative(file: str | None, folder: Path) -> PurePosixPath:
    return PurePosixPath(Path(file or "").relative_to(folder).as_posix())
