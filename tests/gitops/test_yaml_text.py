"""YAML is written in one way, and read back as what it was."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kuberay_e2e.gitops.yaml_text import yaml_text

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_WORDS = st.sampled_from(
    [
        "yes",
        "No",
        "null",
        "~",
        "1",
        "1.0",
        "0x1f",
        "1e3",
        "12:30",
        "2026-01-31",
        "- a",
        "a: b",
        "# c",
        "a #b",
        "<<",
        "=",
    ]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT | _WORDS
_LINES = st.lists(_TEXT, min_size=2, max_size=4).map("\n".join)
_VALUES = st.recursive(
    _SCALARS | _LINES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_TEXT, _VALUES, max_size=4))
def test_what_is_written_is_read_back(value: dict[str, Any]) -> None:
    text = yaml_text(value)
    assert yaml.safe_load(text) == value
    assert yaml_text(json.loads(json.dumps(value))) == text


def test_keys_that_a_reader_looks_for_come_first() -> None:
    text = yaml_text(
        {"spec": {"b": 1, "a": 2}, "kind": "X", "metadata": {"labels": {}, "name": "web"}, "apiVersion": "v1"}
    )
    assert text == "apiVersion: v1\nkind: X\nmetadata:\n  name: web\n  labels: {}\nspec:\n  a: 2\n  b: 1\n"


def test_text_that_readers_take_for_something_else_is_quoted() -> None:
    assert yaml_text({"v": "on", "w": "2.52.0", "x": "1e3", "y": "rayproject/ray:2.52.0"}) == (
        'v: "on"\nw: "2.52.0"\nx: "1e3"\n"y": rayproject/ray:2.52.0\n'
    )


def test_lines_are_written_as_a_block() -> None:
    assert yaml_text({"data": {"a": "x: 1\n\ny: 2\n", "b": "one\ntwo"}}) == (
        "data:\n  a: |\n    x: 1\n\n    y: 2\n  b: |-\n    one\n    two\n"
    )


def test_a_type_of_nobody_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        yaml_text({"a": {1, 2}})
