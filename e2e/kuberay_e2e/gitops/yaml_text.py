"""YAML written so that the same object gives the same bytes everywhere.

PyYAML writes with or without its C library, and folds lines by rules that changed between its releases. This writer
knows mappings, lists and scalars of JSON only, has one way to write each, and quotes whatever a reader of YAML 1.1 or
of YAML 1.2 could take for something else than text.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_FIRST = ("apiVersion", "kind", "metadata", "name", "namespace")
"""Keys that a reader looks for come first; all others follow in the order of their code points."""

_PLAIN = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./@+%=~()-]|:(?=[A-Za-z0-9/]))*", re.ASCII)
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_BLOCK_LINE = re.compile(r"[\x20-\x7e\t\u00a1-\u1fff\u2010-\u2027\u2030-\ud7ff]*")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def yaml_text(value: Mapping[str, Any]) -> str:
    """Return a mapping as YAML in block style, with a line break at the end.

    Args:
        value: Dictionaries with text keys, lists, text, numbers, booleans and None.

    Raises:
        TypeError: There is another type in it.
    """
    lines: list[str] = []
    if value:
        _mapping(dict(value), "", "", lines)
    else:
        lines.append("{}")
    return "\n".join(lines) + "\n"


def _mapping(value: dict[str, Any], first: str, indent: str, lines: list[str]) -> None:
    """Write the entries of a mapping; `first` begins the first line, `indent` all others."""
    for key in sorted(value, key=_rank):
        _entry(f"{first}{_text(key)}:", value[key], indent, lines)
        first = indent


def _rank(key: str) -> tuple[int, str]:
    return (_FIRST.index(key) if key in _FIRST else len(_FIRST), key)


def _list(values: list[Any], first: str, indent: str, lines: list[str]) -> None:
    for value in values:
        if value and type(value) is dict:
            _mapping(value, f"{first}- ", f"{indent}  ", lines)
        elif value and type(value) is list:
            _list(value, f"{first}- ", f"{indent}  ", lines)
        else:
            _entry(f"{first}-", value, indent, lines)
        first = indent


def _entry(head: str, value: Any, indent: str, lines: list[str]) -> None:
    kind = type(value)
    if kind is str:
        block = _block(value)
        if block:
            lines.append(f"{head} |{'' if value.endswith(chr(10)) else '-'}")
            lines.extend(f"{indent}  {line}" if line else "" for line in block)
        else:
            lines.append(f"{head} {_text(value)}")
    elif value and kind is dict:
        lines.append(head)
        _mapping(value, f"{indent}  ", f"{indent}  ", lines)
    elif value and kind is list:
        lines.append(head)
        _list(value, indent, indent, lines)
    else:
        lines.append(f"{head} {_scalar(value)}")


def _block(value: str) -> list[str]:
    """Return the lines of a text that can be written as a block, none if it cannot."""
    if "\n" not in value:
        return []
    lines = value.removesuffix("\n").split("\n")
    if lines[0][:1] in ("", " ", "\t") or not lines[-1].strip():
        return []
    if any(line != line.rstrip() or not _BLOCK_LINE.fullmatch(line) for line in lines):
        return []
    return lines


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case dict():
            return "{}"
        case list():
            return "[]"
    raise TypeError(f"A {type(value).__name__} cannot be written as YAML: {value!r}.")


def _number(value: float) -> str:
    """Write a number so that YAML 1.1, which wants a dot and a sign in the exponent, reads it as one."""
    mantissa, e, exponent = repr(value).partition("e")
    if not e:
        return mantissa
    dotted = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{dotted}e{exponent if exponent[0] in '+-' else f'+{exponent}'}"


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return _UNPRINTABLE.sub(_escaped, json.dumps(value, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
