"""What typed arguments say about the values of a chart, for tests that compare them with its file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, get_args, get_type_hints

import pulumi
from pulumi.provider.experimental.analyzer import Analyzer

from pulumi_kuberay.rendering import FIELD, camel_case


def leaves(values: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of a chart with its place, such as ``image.tag``."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def typed_arguments(arguments: type[Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place of every typed argument with its docstring, in lower case and on one line."""
    hints = get_type_hints(arguments, localns={"Output": pulumi.Output, "T": Any})
    for item in fields(arguments):
        name = item.metadata.get(FIELD, camel_case(item.name))
        if name is None:
            continue
        yield f"{place}{name}", _docstring(arguments, item)
        nested = next((option for option in get_args(hints[item.name]) if is_dataclass(option)), None)
        if nested is not None:
            assert isinstance(nested, type)
            yield from typed_arguments(nested, f"{place}{name}.")


def argument_of(place: str, typed: Mapping[str, str]) -> str | None:
    """Return the typed argument that holds a place: its own, or the mapping that the place is in."""
    if place in typed:
        return place
    above = place
    while above and above not in typed:
        above = above.rpartition(".")[0]
    has_fields = any(other.startswith(f"{above}.") for other in typed)
    return above if above and not has_fields else None


def states(docstring: str, default: Any) -> bool:
    """Tell whether a docstring says ``Default: <default>``, where nothing is called none."""
    return re.search(rf"default: {re.escape(_text(default))}(?!\w)", docstring) is not None


def _text(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int | float):
        return f"{default:g}"
    return re.sub(r"^(\d+)s$", r"\1", str(default)).lower() if default else "none"


def _docstring(arguments: type[Any], item: Field[Any]) -> str:
    text = Analyzer("kuberay").get_docstring(arguments, item.name)
    return " ".join((text or "").split()).lower()
