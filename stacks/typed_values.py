"""From plain values, as YAML has them, to dataclasses: every key is known, every value has its type."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

from config_errors import Problem, spoken
from declared_fields import Dataclass, camel_case, declared_fields, docstrings, plain_type
from stack_file import KeyPath

from kuberay_model.sentences import listed, nearest

_SCALARS: Mapping[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    Path: "a path",
}

_T = TypeVar("_T", bound=Dataclass)


class TypedValues:
    """Reads values by the types that dataclasses declare, and keeps what is wrong in `problems`.

    Keys are the names of fields in camelCase; null is the same as leaving a key out. Where something is wrong, the
    value that was read is of no use.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def record(self, kind: type[_T], values: object, path: KeyPath) -> _T | None:
        """Read a mapping as a dataclass.

        Args:
            kind: The dataclass.
            values: The mapping.
            path: The keys that lead to it.

        Returns:
            The instance, or None if something is wrong.
        """
        if not isinstance(values, Mapping):
            self._wrong(path, "a mapping", values)
            return None
        before = len(self.problems)
        declared = declared_fields(kind)
        for key in values:
            if key not in declared:
                self._unknown(path, str(key), declared)
        arguments = {}
        for key, field in declared.items():
            if values.get(key) is not None:
                arguments[field.name] = self._field(kind, key, field.type, values[key], (*path, key))
            elif field.required:
                self._report(path, f"{spoken(path)} needs the key {key!r}.{_about(kind, key)}")
        return kind(**arguments) if len(self.problems) == before else None

    def value(self, kind: Any, value: object, path: KeyPath) -> Any:
        """Read a value of any type that a dataclass may declare."""
        kind = plain_type(kind)
        origin, arguments = get_origin(kind) or kind, get_args(kind)
        if kind is Any:
            return value
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return self.record(kind, {} if value is None else value, path)
        if origin is Union:
            return self._one_of(arguments, value, path)
        if isinstance(origin, type) and issubclass(origin, Enum):
            return self._choice(origin, value, path)
        if origin in _SCALARS:
            return self._scalar(origin, value, path)
        if issubclass(origin, Mapping):
            return self._table(arguments[-1] if arguments else Any, value, path)
        if issubclass(origin, Sequence):
            return self._list(arguments[0] if arguments else Any, value, path)
        raise TypeError(f"Configuration cannot be read as {kind!r}; declare one of the types that YAML has.")

    def _scalar(self, kind: type, value: object, path: KeyPath) -> Any:
        fits = isinstance(value, kind if kind is not Path else str) and not (
            kind is not bool and isinstance(value, bool)
        )
        if fits or (kind is float and type(value) is int):
            return Path(str(value)).expanduser() if kind is Path else value
        hint = ""
        if kind in (str, Path) and isinstance(value, int | float):
            hint = " Write it in quotes."
        elif kind in (int, float, bool) and isinstance(value, str) and _looks_like(kind, value):
            hint = " Write it without quotes."
        return self._wrong(path, _SCALARS[kind], value, hint)

    def _choice(self, kind: type[Enum], value: object, path: KeyPath) -> Any:
        known = [member.value for member in kind]
        if value in known:
            return kind(value)
        near = nearest(str(value), map(str, known))
        hint = f" Did you mean {near!r}?" if near else ""
        return self._wrong(path, f"one of {listed(map(str, known), 'or')}", value, hint)

    def _table(self, kind: Any, value: object, path: KeyPath) -> Any:
        if not isinstance(value, Mapping):
            return self._wrong(path, described(Mapping[str, kind]), value)
        return {str(key): self.value(kind, item, (*path, str(key))) for key, item in value.items()}

    def _list(self, kind: Any, value: object, path: KeyPath) -> Any:
        if not isinstance(value, list | tuple):
            hint = " Write each one on a line of its own that begins with a dash." if isinstance(value, str) else ""
            return self._wrong(path, described(Sequence[kind]), value, hint)
        return [self.value(kind, item, (*path, index)) for index, item in enumerate(value)]

    def _one_of(self, kinds: Sequence[Any], value: object, path: KeyPath) -> Any:
        for kind in kinds:
            attempt = TypedValues()
            read = attempt.value(kind, value, path)
            if not attempt.problems:
                return read
        return self._wrong(path, listed(map(described, kinds), "or"), value)

    def _field(self, kind: Any, key: str, declared: Any, value: object, path: KeyPath) -> Any:
        before = len(self.problems)
        read = self.value(declared, value, path)
        for index, problem in enumerate(self.problems[before:], before):
            if problem.path == path and not dataclasses.is_dataclass(plain_type(declared)):
                self.problems[index] = dataclasses.replace(problem, sentence=problem.sentence + _about(kind, key))
        return read

    def _unknown(self, path: KeyPath, key: str, known: Iterable[str]) -> None:
        near = nearest(camel_case(key.replace("-", "_")), known)
        hint = f"Did you mean {near!r}?" if near else f"It has {listed(sorted(known))}."
        self._report((*path, key), f"{spoken(path)} has no key {key!r}. {hint}")

    def _wrong(self, path: KeyPath, expected: str, value: object, hint: str = "") -> None:
        self._report(path, f"{spoken(path)} must be {expected}, but it is {_shown(value)}.{hint}")

    def _report(self, path: KeyPath, sentence: str) -> None:
        self.problems.append(Problem(path, sentence))


def described(kind: Any) -> str:
    """Say in words what values a type has, for example "a list of strings"."""
    kind = plain_type(kind)
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin in _SCALARS:
        return _SCALARS[origin]
    if isinstance(origin, type) and issubclass(origin, Enum):
        return f"one of {listed((str(member.value) for member in origin), 'or')}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a list of {_plural(plain_type(arguments[0]))}" if arguments else "a list"
    return "a mapping"


def _plural(kind: Any) -> str:
    names = {str: "strings", int: "integers", float: "numbers", bool: "true or false", Path: "paths"}
    return names.get(kind, "mappings" if kind is not Any else "values")


def _about(kind: type[Dataclass], key: str) -> str:
    text = docstrings(kind).get(key, "")
    return f" ({text.replace('``', '').replace('`', '').rstrip('.')}.)" if text else ""


def _shown(value: object, limit: int = 60) -> str:
    text = "true" if value is True else "false" if value is False else "null" if value is None else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"


def _looks_like(kind: type, text: str) -> bool:
    if kind is bool:
        return text in ("true", "false")
    try:
        kind(text)
    except ValueError:
        return False
    return True
