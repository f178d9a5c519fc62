"""Parts that occur more than once, written once: to `$defs` and back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

_SHORTEST = 60
"""Characters of JSON from which a part is worth a definition of its own."""

_SINGLE = ("items", "additionalProperties")
Kinds = Mapping[str, Mapping[str, Any]]


def factored(kinds: Kinds) -> dict[str, Any]:
    """Write schemas as one document with `kinds` and `$defs`; the same input gives the same document."""
    names = _Names(kinds)
    definitions: dict[str, Any] = {}

    def refer(node: Mapping[str, Any]) -> dict[str, Any]:
        if (name := names.of(node)) is None:
            return _with_parts(node, refer)
        if name not in definitions:
            definitions[name] = _with_parts(node, refer)
        return {"$ref": name}

    document = {"kinds": {name: refer(kind) for name, kind in kinds.items()}}
    return {**document, "$defs": dict(sorted(definitions.items()))}


def expanded(document: Mapping[str, Any]) -> Kinds:
    """Read what `factored` wrote; a part that occurs more than once is one and the same mapping."""
    definitions = document["$defs"]
    done: dict[str, dict[str, Any]] = {}

    def expand(node: Mapping[str, Any]) -> dict[str, Any]:
        if (name := node.get("$ref")) is not None:
            if name not in done:
                done[name] = expand(definitions[name])
            return done[name]
        return _with_parts(node, expand)

    return {name: expand(kind) for name, kind in document["kinds"].items()}


def _with_parts(node: Mapping[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Copy a schema with every part of it changed."""
    result = dict(node)
    if "properties" in node:
        result["properties"] = {name: change(child) for name, child in node["properties"].items()}
    for keyword in _SINGLE:
        if keyword in node:
            result[keyword] = change(node[keyword])
    return result


def _text(node: Mapping[str, Any]) -> str:
    return json.dumps(node, sort_keys=True)


class _Names:
    """A name for each part that occurs more than once, by its text."""

    def __init__(self, kinds: Kinds) -> None:
        self._seen: set[str] = set()
        self._taken: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        for kind in kinds.values():
            self._look_at(kind, "object")

    def of(self, node: Mapping[str, Any]) -> str | None:
        return self._names.get(_text(node))

    def _look_at(self, node: Mapping[str, Any], name: str) -> None:
        text = _text(node)
        if text not in self._seen:
            self._seen.add(text)
            for child_name, child in node.get("properties", {}).items():
                self._look_at(child, child_name)
            for keyword in _SINGLE:
                if keyword in node:
                    self._look_at(node[keyword], name)
        elif len(text) >= _SHORTEST and text not in self._names:
            self._taken[name] += 1
            self._names[text] = name if self._taken[name] == 1 else f"{name}{self._taken[name]}"
