"""YAML documents as Kubernetes reads them: stricter than YAML, and bounded.

A repeated key is an error, because YAML would keep the last one only. Keys that are numbers or booleans become
strings, as in Kubernetes. Aliases and merge keys work; those that expand to very much, or to themselves, are
errors. One pass over the events of the C parser does all of it, without the nodes that PyYAML makes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from kuberay_model.yaml_loader import ManifestLoader

MOST_LEVELS = 200
"""Deepest nesting; the CRDs of KubeRay have 40 levels."""
MOST_VALUES = 1_000_000
"""Values from which a document may not be mostly aliases."""
MOST_GROWTH = 10
"""How many times larger than written a large document may become by its aliases."""

_CACHE_LIMIT = 20_000
_MERGE = "<<"


class DocumentError(ValueError):
    """Text that is no YAML, or YAML that is refused here.

    Attributes:
        line: Line, counted from 1; None if unknown.
        message: What is wrong and what to do.
    """

    def __init__(self, line: int | None, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


@dataclass(frozen=True)
class YamlDocument:
    """A document of a YAML text.

    Attributes:
        line: Line at which its content begins, counted from 1.
        value: The content.
        item_lines: Lines of the items of each list under a key `items`, as lists of Kubernetes objects have, by
            the `id` of the list.
    """

    line: int
    value: Any
    item_lines: Mapping[int, Sequence[int]]

    def items(self, value: Any) -> Iterator[tuple[int, Any]]:
        """Yield line and item of a list under a key `items` of this document."""
        yield from zip(self.item_lines[id(value)], value, strict=True)


@dataclass
class _Open:
    """A mapping or a list that is being read."""

    value: dict[str, Any] | list[Any]
    line: int
    anchor: str | None
    is_mapping: bool
    key: str | None = None
    key_line: int = 0
    size: int = 1
    key_lines: dict[str, int] = field(default_factory=dict)
    merged: list[Any] = field(default_factory=list)
    item_lines: list[int] = field(default_factory=list)


def documents(text: str) -> Iterator[YamlDocument]:
    """Yield the documents of a YAML text, empty ones left out.

    Args:
        text: YAML or JSON.

    Raises:
        DocumentError: The text is no YAML, or it is refused as the module says.
    """
    try:
        loader = ManifestLoader(text)
        try:
            yield from _Reader(loader).documents()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        column = f" at column {mark.column + 1}" if mark else ""
        what = error.problem or error.context
        line = min(mark.line, text.count("\n")) + 1 if mark else None
        raise DocumentError(line, f"This is no YAML{column}: {what}.") from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise DocumentError(line, f"This is no YAML: {error.reason}.") from None


class _Reader:
    """Makes values of the events of one text."""

    _scalars: dict[str, Any] = {}  # noqa: RUF012 - plain scalars seen so far, in any text

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open: list[_Open] = []
        self.written = 0
        self.item_lines: dict[int, list[int]] = {}

    def documents(self) -> Iterator[YamlDocument]:
        while True:
            event = self.loader.get_event()
            if event is None or isinstance(event, yaml.StreamEndEvent):
                return
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            self.anchors.clear()
            self.written = 0
            self.item_lines = {}
            first = self.loader.peek_event()
            value = self._document()
            if value is not None:
                yield YamlDocument(first.start_mark.line + 1, value, self.item_lines)

    def _document(self) -> Any:
        """Read events up to the end of the document."""
        result: Any = None
        get_event = self.loader.get_event
        while True:
            event = get_event()
            kind = type(event)
            line = event.start_mark.line + 1
            if kind is yaml.ScalarEvent:
                value, size = self._scalar(event, line), 1
                if event.anchor:
                    self.anchors[event.anchor] = (value, 1)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._begin(event, line, kind is yaml.MappingStartEvent)
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                ended = self.open.pop()
                value, size, line = self._end(ended), ended.size, ended.line
                if not ended.is_mapping and self.open and self.open[-1].key == "items":
                    self.item_lines[id(value)] = ended.item_lines
            elif kind is yaml.AliasEvent:
                value, size = self._alias(event, line)
            elif kind is yaml.DocumentEndEvent:
                return result
            else:
                raise DocumentError(line, f"This is no YAML: {kind.__name__} is not expected here.")
            self.written += 1
            if self.open:
                self._put(self.open[-1], value, size, line)
            else:
                result = value

    def _begin(self, event: Any, line: int, is_mapping: bool) -> None:
        if event.tag not in (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
            raise DocumentError(line, f"The tag {event.tag!r} means nothing to Kubernetes; remove it.")
        if len(self.open) >= MOST_LEVELS:
            raise DocumentError(line, f"The document is nested deeper than {MOST_LEVELS} levels.")
        parent = self.open[-1] if self.open else None
        if parent is not None and parent.is_mapping and parent.key is None:
            raise DocumentError(line, "A key is a mapping or a list; keys are strings. Unrendered templates look so.")
        if event.anchor:
            self.anchors.pop(event.anchor, None)
        self.open.append(_Open({} if is_mapping else [], line, event.anchor, is_mapping))

    def _end(self, ended: _Open) -> Any:
        if ended.merged and isinstance(ended.value, dict):
            for part in ended.merged:
                for key, value in part.items():
                    ended.value.setdefault(key, value)
        if ended.anchor:
            self.anchors[ended.anchor] = (ended.value, ended.size)
        return ended.value

    def _alias(self, event: Any, line: int) -> tuple[Any, int]:
        if event.anchor in self.anchors:
            return self.anchors[event.anchor]
        if any(container.anchor == event.anchor for container in self.open):
            raise DocumentError(line, f"The alias *{event.anchor} is inside of what it stands for.")
        raise DocumentError(line, f"There is no anchor &{event.anchor} before this alias.")

    def _put(self, parent: _Open, value: Any, size: int, line: int) -> None:
        parent.size += size
        if parent.size > MOST_VALUES and parent.size > MOST_GROWTH * self.written:
            raise DocumentError(
                line,
                f"Aliases expand the document to more than {parent.size} values, of which {self.written} are written; "
                "write them out, or use fewer aliases.",
            )
        if isinstance(parent.value, list):
            parent.value.append(value)
            parent.item_lines.append(line)
        elif parent.key is None:
            self._key(parent, value, line)
        else:
            if parent.key == _MERGE:
                parent.merged += self._merge(value, line)
            else:
                parent.value[parent.key] = value
            parent.key = None

    def _key(self, parent: _Open, key: Any, line: int) -> None:
        if isinstance(key, bool):
            key = "true" if key else "false"
        elif isinstance(key, int | float):
            key = str(key)
        elif not isinstance(key, str):
            raise DocumentError(line, f"A key is {'null' if key is None else 'no text'}; keys are strings.")
        first = parent.key_lines.setdefault(key, line)
        if first is not line or key in parent.value:
            raise DocumentError(
                line,
                f"The key {key!r} is already given at line {first}, and YAML would keep the last one only; "
                "remove one of the two.",
            )
        parent.key, parent.key_line = key, line

    @staticmethod
    def _merge(value: Any, line: int) -> list[dict[str, Any]]:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise DocumentError(line, "The merge key << takes a mapping or a list of mappings.")
        return parts

    def _scalar(self, event: Any, line: int) -> Any:
        text: str = event.value
        plain, _ = event.implicit
        if event.tag is None or event.tag == "!":
            if not plain:
                return text
            cached = self._scalars.get(text, self)
            if cached is not self:
                return cached
        tag = event.tag or self.loader.resolve(yaml.ScalarNode, text, (True, False))
        if tag in ("tag:yaml.org,2002:merge", "tag:yaml.org,2002:value"):
            return text
        try:
            value = self.loader.construct_object(yaml.ScalarNode(tag, text, event.start_mark, event.end_mark))
        except ValueError as error:
            raise DocumentError(line, f"{text!r} cannot be read: {error}.") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise DocumentError(line, f"{text} is a number that JSON, and so Kubernetes, does not have.")
        if not isinstance(value, str | int | float | None):
            raise DocumentError(line, f"The tag {tag!r} means nothing to Kubernetes; remove it.")
        if event.tag is None:
            if len(self._scalars) >= _CACHE_LIMIT:
                self._scalars.clear()
            self._scalars[text] = value
        return value
