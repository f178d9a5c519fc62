"""What a change of a rendered folder does when it is synced."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Final

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.layout import FLUX_PRUNE, FLUX_SSA, Layout
from kuberay_e2e.gitops.normal_form import QUEUE_LABEL
from kuberay_e2e.gitops.placed import is_ray_job
from kuberay_e2e.gitops.prune_check import sync_options
from kuberay_e2e.gitops.tree import Item, Tree

_LONGEST_VALUE = 120


class Effect(StrEnum):
    """What happens to an object, or to a job."""

    RUNS = "jobs that will run"
    REPLACED = "jobs that will be replaced"
    ENDS = "jobs that will be deleted"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class _Missing:
    """The type of `MISSING`."""


MISSING: Final = _Missing()
"""Stands for a field that is not there."""


@dataclass(frozen=True)
class FieldChange:
    """A field that differs.

    Attributes:
        path: The field, such as `spec.entrypoint`.
        before: Its value in the base, or `MISSING`.
        after: Its value now, or `MISSING`.
    """

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is MISSING:
            return f"{self.path}: added {shown(self.after)}"
        if self.after is MISSING:
            return f"{self.path}: removed {shown(self.before)}"
        return f"{self.path}: {shown(self.before)} -> {shown(self.after)}"


@dataclass(frozen=True)
class ObjectChange:
    """An object that differs.

    Attributes:
        effect: What happens.
        file: Its file.
        title: The object, as it will be, or was.
        consequence: What a sync does, a sentence; empty where the effect says it.
        fields: The fields that differ.
    """

    effect: Effect
    file: PurePosixPath
    title: str
    consequence: str = ""
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Everything that differs, in the order of effects and files."""

    changes: tuple[ObjectChange, ...]

    def of(self, effect: Effect) -> list[ObjectChange]:
        """Return the objects with an effect."""
        return [change for change in self.changes if change.effect is effect]


def difference(base: Path, tree: Tree) -> Difference:
    """Compare a rendered folder with what it was before.

    Args:
        base: The folder before; an empty one for a stack that is rendered for the first time.
        tree: The folder now.

    Raises:
        InputError: The base was not written by `kuberay-e2e render`, or is of another stack.
    """
    if base.is_dir() and not any(base.iterdir()):
        return compared((), (*tree.objects, *tree.engine), tree.record.layout)
    before = Tree.read(base)
    if before.record.stack != tree.record.stack:
        raise InputError(
            f"{base} is of the stack {before.record.stack}, and {tree.folder} of {tree.record.stack}; give two folders "
            "of one stack."
        )
    return compared((*before.objects, *before.engine), (*tree.objects, *tree.engine), tree.record.layout)


def compared(before: Sequence[Item], after: Sequence[Item], layout: Layout) -> Difference:
    """Compare the objects of two folders, file by file."""
    old, new = ({item.file: item for item in items} for items in (before, after))
    found = []
    for file in sorted(old.keys() | new.keys()):
        if file not in old:
            found.append(_added(new[file]))
        elif file not in new:
            found.append(_removed(old[file], layout))
        elif fields := tuple(_fields(old[file].manifest, new[file].manifest, "")):
            found.append(_changed(old[file], new[file], fields, layout))
    order = list(Effect)
    return Difference(tuple(sorted(found, key=lambda change: (order.index(change.effect), change.file))))


def shown(value: Any) -> str:
    """Return a value in one short line."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _added(item: Item) -> ObjectChange:
    if not is_ray_job(item.manifest):
        return ObjectChange(Effect.ADDED, item.file, item.title)
    return ObjectChange(Effect.RUNS, item.file, item.title, _begins(item))


def _begins(item: Item) -> str:
    if (item.manifest.get("spec") or {}).get("suspend") is True:
        return "It is created suspended and runs when somebody resumes it."
    queue = (item.subject.metadata.get("labels") or {}).get(QUEUE_LABEL)
    return f"It runs when the queue {queue} admits it." if queue else "It runs at once."


def _removed(item: Item, layout: Layout) -> ObjectChange:
    effect = Effect.ENDS if is_ray_job(item.manifest) else Effect.REMOVED
    if layout is Layout.PLAIN:
        consequence = "It stays in the cluster until somebody deletes it."
    elif "Prune=false" in sync_options(item) or item.annotations.get(FLUX_PRUNE) == "disabled":
        consequence = "It stays in the cluster, because it is never pruned."
    else:
        consequence = "It is pruned, and stopped if it runs." if effect is Effect.ENDS else "It is pruned."
    return ObjectChange(effect, item.file, item.title, consequence)


def _changed(old: Item, new: Item, fields: tuple[FieldChange, ...], layout: Layout) -> ObjectChange:
    if not is_ray_job(new.manifest):
        return ObjectChange(Effect.CHANGED, new.file, new.title, "", fields)
    if old.subject.name != new.subject.name:
        gone = "stays in the cluster" if layout is Layout.PLAIN else "is pruned, and stopped if it runs"
        sentence = f"{old.subject.name} {gone}. {_begins(new)}"
        return ObjectChange(Effect.REPLACED, new.file, new.title, sentence, fields)
    sentence = "The run that is there takes it over; nothing runs again."
    if new.annotations.get(FLUX_SSA) == "IfNotPresent":
        sentence = "Flux does not touch the run that is there; it counts from the next run on."
    return ObjectChange(Effect.CHANGED, new.file, new.title, sentence, fields)


def _fields(before: Any, after: Any, path: str) -> Iterator[FieldChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted(before.keys() | after.keys()):
            inner = f"{path}[{key}]" if "." in key or "/" in key else f"{path}.{key}" if path else key
            yield from _fields(before.get(key, MISSING), after.get(key, MISSING), inner)
    elif isinstance(before, list) and isinstance(after, list):
        old, new = _by_name(before), _by_name(after)
        if old is None or new is None:
            old, new = dict(enumerate(before)), dict(enumerate(after))
        for key in dict.fromkeys([*old, *new]):
            yield from _fields(old.get(key, MISSING), new.get(key, MISSING), f"{path}[{key}]")
    elif type(before) is not type(after) or before != after:
        yield FieldChange(path, before, after)


def _by_name(values: list[Any]) -> dict[Any, Any] | None:
    """Return a list of named things by name, so that an insertion is one difference; None if they have no names."""
    for key in ("name", "groupName"):
        names = [value.get(key) if isinstance(value, Mapping) else None for value in values]
        if values and all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            return dict(zip(names, values, strict=True))
    return None
