"""The schema is what users of YAML, TypeScript and Go read: names, descriptions, what is required, what is allowed."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import pulumi_kuberay
from pulumi_kuberay.hosting.exports import exported_components
from pulumi_kuberay.hosting.provider import KubeRayProvider


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    schema = json.loads(KubeRayProvider(exported_components()).schema or "")
    assert isinstance(schema, dict)
    return schema


def types(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Components and types by their names."""
    return {token.rpartition(":")[2]: value for token, value in (schema["resources"] | schema["types"]).items()}


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of the schema, with its full name."""
    for name, definition in types(schema).items():
        for kind in ("inputProperties", "properties"):
            for key, value in definition.get(kind, {}).items():
                yield f"{name}.{key}", value


def test_every_exported_component_is_offered(schema: dict[str, Any]) -> None:
    components = {token for token, definition in schema["resources"].items() if definition["isComponent"]}
    assert components == {f"kuberay:index:{component.__name__}" for component in exported_components()}
    assert {"kuberay:index:KubeRayCrds", "kuberay:index:KubeRayOperator", "kuberay:index:RayJob"} <= components


def test_components_register_under_the_type_that_the_schema_says(schema: dict[str, Any]) -> None:
    for component in exported_components():
        assert f'"kuberay:index:{component.__name__}"' in inspect.getsource(component)
    assert schema["name"] == "kuberay"


def test_everything_is_described(schema: dict[str, Any]) -> None:
    described = [*types(schema).items(), *properties(schema)]
    undescribed = [name for name, definition in described if not definition.get("description", "").strip()]
    assert not undescribed, "Add a docstring below each of these: " + ", ".join(undescribed)


def test_descriptions_speak_no_python(schema: dict[str, Any]) -> None:
    words = re.compile(r"``|\bArgs\b|\bpulumi\.Input\b|__init__|:class:")
    for name, definition in [*types(schema).items(), *properties(schema)]:
        found = words.search(definition["description"])
        assert not found, f"The description of {name} says {found[0] if found else None}, a word of Python."


def test_descriptions_name_properties_as_the_schema_does(schema: dict[str, Any]) -> None:
    """A name in backticks with an underscore is no name in YAML or TypeScript."""
    for name, definition in [*types(schema).items(), *properties(schema)]:
        quoted = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", definition["description"])
        assert not quoted, f"The description of {name} names {quoted}, which are no properties of the schema."


def test_names_are_camel_case_and_types_are_pascal_case(schema: dict[str, Any]) -> None:
    for name, _ in properties(schema):
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]*\.[a-z][A-Za-z0-9]*", name), name


def test_every_type_is_used(schema: dict[str, Any]) -> None:
    text = json.dumps(schema)
    for token in schema["types"]:
        assert f'"#/types/{token}"' in text, f"{token} is not used by any component."


def test_enums_have_the_values_of_kuberay(schema: dict[str, Any]) -> None:
    modes = types(schema)["SubmissionMode"]["enum"]
    assert [mode["value"] for mode in modes] == [mode.value for mode in pulumi_kuberay.SubmissionMode]


def test_what_is_required_is_little(schema: dict[str, Any]) -> None:
    """Every component has a default for everything but what nobody can guess."""
    for name in ("KubeRayCrds", "KubeRayOperator", "RayJob"):
        assert types(schema)[name].get("requiredInputs", []) == []
    assert types(schema)["WorkerGroup"]["required"] == ["name"]


def test_outputs_are_there(schema: dict[str, Any]) -> None:
    assert set(types(schema)["KubeRayCrds"]["properties"]) >= {"names", "checksum"}
    assert set(types(schema)["RayJob"]["properties"]) >= {"jobName", "namespace"}


def test_the_package_says_what_it_is(schema: dict[str, Any]) -> None:
    assert schema["license"] == "Apache-2.0"
    assert schema["description"].endswith(".")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", schema["version"])
