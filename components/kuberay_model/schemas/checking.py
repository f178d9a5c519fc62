"""An object compared with its schema.

Keywords of JSON Schema are judged by `jsonschema`; those of structural schemas of Kubernetes are judged here.
The walk over the object is also here: a schema has no references left and most values need one look at their
type, which makes it several times as fast as the general one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from kuberay_model.schemas.schema import INTEGERS, LIST_KEYS, PRESERVE, UNKNOWN_FIELD, MapKey, Node, Path, Violation

Check = Callable[[Any, Any, Node, Path, list[Violation]], None]
"""Takes the keyword's value, the value of the object, the schema, its path, and adds what is wrong."""

_PLAIN = ((str, "string"), (bool, "boolean"))
_TIME = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?"
    r"(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)
_JSON_SCHEMA = Draft202012Validator({})


def violations(kind: Node, manifest: Any) -> list[Violation]:
    """Return what is wrong with an object; nulls are expected to be gone."""
    found: list[Violation] = []
    _compare(manifest, kind, (), found)
    return found


def _compare(value: Any, node: Node, path: Path, found: list[Violation]) -> None:
    for keyword, wanted in node.items():
        check = _KEYWORDS.get(keyword)
        if check is not None:
            check(wanted, value, node, path, found)


def _is_plain(value: Any, node: Node) -> bool:
    """Tell at once that a value is right for a schema that says nothing, or just one type: most values are."""
    if not node:
        return True
    return len(node) == 1 and (type(value), node.get("type")) in _PLAIN


def _properties(properties: Any, value: Any, node: Node, path: Path, found: list[Violation]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            child = properties.get(name)
            if child is not None:
                if not _is_plain(inner, child):
                    _compare(inner, child, (*path, name), found)
            elif not node.get(PRESERVE):
                found.append(Violation(UNKNOWN_FIELD, None, inner, (*path, str(name))))


def _additional_properties(child: Any, value: Any, _: Node, path: Path, found: list[Violation]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if not _is_plain(inner, child):
                _compare(inner, child, (*path, MapKey(name)), found)


def _items(child: Any, value: Any, _: Node, path: Path, found: list[Violation]) -> None:
    if isinstance(value, list):
        for index, inner in enumerate(value):
            if not _is_plain(inner, child):
                _compare(inner, child, (*path, index), found)


def _required(names: Any, value: Any, _: Node, path: Path, found: list[Violation]) -> None:
    if isinstance(value, dict):
        found.extend(Violation("required", None, None, (*path, name)) for name in names if name not in value)


def _format(name: Any, value: Any, _: Node, path: Path, found: list[Violation]) -> None:
    if name == "date-time":
        wrong = isinstance(value, str) and not _TIME.fullmatch(value)
    else:
        smallest, largest = INTEGERS[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        wrong = is_number and not smallest <= value <= largest
    if wrong:
        found.append(Violation("format", name, value, path))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of Go, where `$` is the end of the text and not also before a last line break."""
    return re.compile(f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern)


def _pattern(pattern: Any, value: Any, _: Node, path: Path, found: list[Violation]) -> None:
    if isinstance(value, str) and not _compiled(pattern).search(value):
        found.append(Violation("pattern", pattern, value, path))


def _list_keys(keys: Any, value: Any, node: Node, path: Path, found: list[Violation]) -> None:
    if not isinstance(value, list) or len(value) < 2:
        return
    defaults = [node["items"]["properties"][key].get("default") for key in keys]
    seen = set()
    for index, entry in enumerate(value):
        if isinstance(entry, dict):
            identity = tuple(entry.get(key, default) for key, default in zip(keys, defaults, strict=True))
            if all(isinstance(part, str | int) for part in identity):
                if identity in seen:
                    found.append(Violation(LIST_KEYS, keys, entry, (*path, index)))
                seen.add(identity)


def _unique_items(_: Any, value: Any, __: Node, path: Path, found: list[Violation]) -> None:
    if isinstance(value, list):
        for index, entry in enumerate(value):
            if entry in value[:index]:
                found.append(Violation("uniqueItems", None, entry, (*path, index)))


def _standard(keyword: str) -> Check:
    judge = Draft202012Validator.VALIDATORS[keyword]

    def check(wanted: Any, value: Any, node: Node, path: Path, found: list[Violation]) -> None:
        for _ in judge(_JSON_SCHEMA, wanted, value, node):
            found.append(Violation(keyword, wanted, value, path))

    return check


_STANDARD = ("type", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_KEYWORDS: Mapping[str, Check] = {
    **{keyword: _standard(keyword) for keyword in _STANDARD},
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "items": _items,
    "format": _format,
    "pattern": _pattern,
    "uniqueItems": _unique_items,
    LIST_KEYS: _list_keys,
}
