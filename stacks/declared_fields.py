"""What a dataclass declares: its fields by the names they have in YAML, their types and their docstrings."""

import ast
import dataclasses
import inspect
import re
import textwrap
import types
from collections.abc import Awaitable, Mapping
from functools import cache
from typing import Any, ClassVar, Protocol, Union, get_args, get_origin, get_type_hints

import pulumi

_NAMES_IN_PULUMI_INPUT = {"Output": pulumi.Output, "T": Any}
"""``pulumi.Input[X]`` refers to its output by the text ``Output[T]``."""


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class DeclaredField:
    """A field of a dataclass.

    Attributes:
        name: Its name in Python.
        type: Its type, without None and without what Pulumi accepts besides (outputs and awaitables).
        required: Whether it has no default.
    """

    name: str
    type: Any
    required: bool


@cache
def declared_fields(record: type[Dataclass]) -> Mapping[str, DeclaredField]:
    """Return the fields of a dataclass by their keys in YAML, in the order of their declaration."""
    hints = get_type_hints(record, localns=_NAMES_IN_PULUMI_INPUT)
    return {
        camel_case(field.name): DeclaredField(
            name=field.name,
            type=plain_type(hints[field.name]),
            required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(record)
        if field.init
    }


def plain_type(hint: Any) -> Any:
    """Return the one type of plain values that a type hint allows.

    ``X | None`` gives ``X``, and so does ``pulumi.Input[X]``. A union of several plain types stays one.
    """
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    plain = [option for option in get_args(hint) if not _is_pulumis(option)]
    return plain[0] if len(plain) == 1 else Union[tuple(plain)]  # noqa: UP007 - made of a list


def camel_case(name: str) -> str:
    """Return ``like_this`` as ``likeThis``, which is what Pulumi calls it in YAML and in other languages."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake_case(name: str) -> str:
    """Return ``likeThis`` as ``like_this``, which is what Python calls it."""
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


@cache
def docstrings(record: type[Dataclass]) -> Mapping[str, str]:
    """Return the docstrings under the fields of a dataclass, by their keys in YAML, each on one line."""
    found: dict[str, str] = {}
    for ancestor in reversed(record.__mro__):
        if dataclasses.is_dataclass(ancestor):
            found |= _docstrings_in(textwrap.dedent(inspect.getsource(ancestor)))
    return found


def _docstrings_in(source: str) -> dict[str, str]:
    [definition] = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, after in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            found[camel_case(field.target.id)] = " ".join(after.value.value.split())
    return found


def _is_pulumis(option: Any) -> bool:
    return option is type(None) or (get_origin(option) or option) in (pulumi.Output, Awaitable)
