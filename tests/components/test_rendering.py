from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pulumi_kuberay.rendering import FIELD, at, camel_case, found, placed, rendered


class Color(StrEnum):
    RED = "Red"


@dataclass(kw_only=True)
class Inner:
    whole_number: float | None = None
    left_out: str | None = field(default=None, metadata={FIELD: None})


@dataclass(kw_only=True)
class Outer:
    inner_one: Inner | None = None
    inners: tuple[Inner, ...] | None = None
    color: Color | None = None
    labels: dict[str, Any] | None = None
    deep: int | None = field(default=None, metadata={FIELD: "a.b.c"})
    beside: int | None = field(default=None, metadata={FIELD: "a.d"})


def test_names_are_written_as_kubernetes_writes_them() -> None:
    assert [camel_case(name) for name in ("name", "node_labels", "a_1b")] == ["name", "nodeLabels", "a1b"]


def test_what_is_unset_or_not_a_field_is_left_out() -> None:
    assert rendered(Outer(inner_one=Inner(left_out="x"))) == {"innerOne": {}}


def test_values_become_plain_and_keys_of_mappings_stay() -> None:
    outer = Outer(inners=(Inner(whole_number=3.0), Inner(whole_number=0.5)), color=Color.RED, labels={"my_key": [1.0]})

    assert repr(rendered(outer)) == repr(
        {"inners": [{"wholeNumber": 3}, {"wholeNumber": 0.5}], "color": "Red", "labels": {"my_key": [1]}}
    )


def test_fields_of_one_place_are_put_together() -> None:
    assert placed(Outer(deep=1, beside=2)) == {"a": {"b": {"c": 1}, "d": 2}}


def test_a_place_is_found_again() -> None:
    values = at("a.b.c", 1)

    assert (found(values, "a.b.c"), found(values, "a.x"), found(values, "a.b.c.d")) == (1, None, None)
