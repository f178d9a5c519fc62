"""Pulumi reads the annotations of the arguments to offer the components to other languages.

Whoever adds an argument that it cannot read, or reads wrongly without a word, learns it here.
"""

import dataclasses
import inspect
from typing import Any, get_args, get_origin

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer, is_input, is_union, unwrap_input

from pulumi_kuberay.hosting.exports import PACKAGE, args_class, exported_components

COMPONENTS = exported_components()
ADVICE = (
    "Other languages need annotations that Pulumi can read: str, int, float, bool, a str Enum, a dataclass, "
    "Sequence[T], Mapping[str, T] or Mapping[str, Any], each alone, as T | None or as pulumi.Input[T], and no "
    "`from __future__ import annotations`. A choice is a dataclass of optional fields, exactly one of which is set."
)

each_component = pytest.mark.parametrize("component", COMPONENTS, ids=lambda component: component.__name__)


def annotations(annotation: Any, path: str, seen: set[type]) -> dict[str, Any]:
    """Every annotation that is reachable from one, by its path."""
    found = {path: annotation}
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type) and annotation not in seen:
        seen.add(annotation)
        for field in dataclasses.fields(annotation):
            found |= annotations(field.type, f"{annotation.__name__}.{field.name}", seen)
    else:
        inner = [unwrap_input(annotation)] if is_input(annotation) else get_args(annotation)
        for part in inner:
            found |= annotations(part, f"{path}: {part}", seen)
    return found


@each_component
def test_pulumi_reads_the_arguments(component: type[pulumi.ComponentResource]) -> None:
    try:
        Analyzer(PACKAGE).analyze([component])
    except Exception as error:
        pytest.fail(f"Pulumi cannot read the arguments of {component.__name__}: {error}. {ADVICE}")


def test_no_two_types_of_all_components_have_one_name() -> None:
    try:
        Analyzer(PACKAGE).analyze(COMPONENTS)
    except Exception as error:
        pytest.fail(f"Pulumi cannot read the components together: {error}. {ADVICE}")


@each_component
def test_the_arguments_are_a_dataclass_whose_fields_are_given_by_name(
    component: type[pulumi.ComponentResource],
) -> None:
    args = args_class(component)
    assert dataclasses.is_dataclass(args), f"{args.__name__} is not a dataclass. {ADVICE}"
    not_by_name = [field.name for field in dataclasses.fields(args) if not field.kw_only]
    assert not not_by_name, f"{args.__name__} must have kw_only=True; {not_by_name} can be given by position."


@each_component
def test_no_union_is_cut_to_its_first_type(component: type[pulumi.ComponentResource]) -> None:
    """Pulumi reads `A | B | None` as `A | None` without a word."""
    for path, annotation in annotations(args_class(component), "args", set()).items():
        if is_union(annotation) and not is_input(annotation):
            types = [part for part in get_args(annotation) if part is not type(None)]
            assert len(types) == 1, f"{path} is a union of {types}, of which Pulumi sees only the first. {ADVICE}"


@each_component
def test_nothing_is_a_tuple_a_callable_or_a_private_name(component: type[pulumi.ComponentResource]) -> None:
    for path, annotation in annotations(args_class(component), "args", set()).items():
        origin = get_origin(annotation) or annotation
        assert origin is not tuple and not (inspect.isclass(origin) and origin.__name__ == "Callable"), (
            f"{path} cannot be written in another language. {ADVICE}"
        )
        name = path.partition(":")[0].rpartition(".")[2]
        assert not name.startswith("_"), f"{path} is private, and Pulumi leaves private fields out without a word."
