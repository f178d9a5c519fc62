"""Manifests that say so when a policy reads a value that is known only at deployment.

A policy that reads such a value is neither kept nor broken: it is deferred. Containers without such a value
are left as they are, so that checking what is wholly known costs nothing more.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import Any, cast

from kuberay_policies.subjects import UNKNOWN, Subject, joined


class NotYetKnown(Exception):
    """A policy reads a value that is known only at deployment.

    Attributes:
        owner: The object.
        path: Path of the value in its manifest.
    """

    def __init__(self, owner: Subject, path: str) -> None:
        super().__init__(owner, path)
        self.owner = owner
        self.path = path


class _GuardedMapping(dict[str, Any]):
    """A mapping with a value that is, or holds one that is, known only at deployment."""

    owner: Subject
    path: str

    def _known(self, key: str, value: Any) -> Any:
        if value is UNKNOWN:
            raise NotYetKnown(self.owner, joined(self.path, key))
        return value

    def __getitem__(self, key: str) -> Any:
        return self._known(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if super().__contains__(key) else default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) and self._known(cast(str, key), super().get(cast(str, key))) is not None

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        return ValuesView(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self.items()) == other

    __hash__ = None


class _GuardedList(list[Any]):
    """A list with an item that is, or holds one that is, known only at deployment."""

    owner: Subject
    path: str

    def __getitem__(self, index: Any) -> Any:
        value = super().__getitem__(index)
        if value is UNKNOWN:
            raise NotYetKnown(self.owner, f"{self.path}[{index}]")
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return value

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __contains__(self, item: object) -> bool:
        return any(value == item for value in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and list(iter(self)) == other

    __hash__ = None


def guarded(subject: Subject) -> Subject:
    """Return the object, every container with an unknown value below it replaced by one that guards it.

    Reading an unknown value from a guarded container, or asking whether its key is set, raises `NotYetKnown`.
    """
    if not subject.unknown_paths:
        return subject
    return Subject(_guarded(subject.manifest, "", subject), subject.source, subject.options)


def guard(value: Any, owner: Subject) -> Any:
    """Return a manifest made from that of `owner` with unknown values guarded in the same way."""
    return _guarded(value, "", owner)


def _guarded(value: Any, path: str, owner: Subject) -> Any:
    if isinstance(value, Mapping):
        inner = {key: _guarded(item, joined(path, key), owner) for key, item in value.items()}
        if not any(map(_is_guard, inner.values())):
            return value
        mapping = _GuardedMapping(inner)
        mapping.owner, mapping.path = owner, path
        return mapping
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        items = [_guarded(item, f"{path}[{index}]", owner) for index, item in enumerate(value)]
        if not any(map(_is_guard, items)):
            return value
        sequence = _GuardedList(items)
        sequence.owner, sequence.path = owner, path
        return sequence
    return value


def _is_guard(value: object) -> bool:
    return value is UNKNOWN or isinstance(value, _GuardedMapping | _GuardedList)


def without_unknown(value: Any) -> Any:
    """Copy a value without unknown values: their keys go, and a list with an unknown item goes as a whole."""
    if isinstance(value, Mapping):
        kept = ((key, without_unknown(inner)) for key, inner in value.items())
        return {key: inner for key, inner in kept if inner is not UNKNOWN}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return UNKNOWN if any(item is UNKNOWN for item in value) else [without_unknown(item) for item in value]
    return value
