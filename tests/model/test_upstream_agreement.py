"""The operator's own module agrees with the model: its samples are accepted, its CRD has our fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_model.rules import refusal, validate
from kuberay_model.rules.fields import SPEC, Field
from kuberay_model.rules.values import defaulted
from kuberay_model.versions import DEFAULT
from kuberay_model.yaml_loader import Loader

from .upstream import operator_source

TYPES = {"map": "object", "list": "array"}


def samples() -> dict[str, dict[str, Any]]:
    folder = operator_source() / "config/samples"
    return {
        path.name: document
        for path in sorted(folder.glob("ray-job*.yaml"))
        for document in yaml.load_all(path.read_text(), Loader)
        if document and document["kind"] == "RayJob"
    }


def crd_spec() -> dict[str, Any]:
    crd = yaml.load((operator_source() / "config/crd/bases/ray.io_rayjobs.yaml").read_text(), Loader)
    (version,) = [version for version in crd["spec"]["versions"] if version["name"] == "v1"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return schema


def test_upstream_samples_are_accepted() -> None:
    refused = {name: str(refusal(sample)) for name, sample in samples().items() if refusal(sample)}
    assert len(samples()) > 10
    assert refused == {}


def test_the_leak_of_an_upstream_sample_is_found() -> None:
    found = validate(samples()["ray-job.deletion-rules.yaml"])
    assert [finding.id for finding in found] == ["U8"]


def _compare(path: str, shape: Field, schema: dict[str, Any]) -> None:
    assert schema["type"] == TYPES.get(shape.kind, shape.kind), path
    assert tuple(schema.get("enum", ())) == shape.values, path
    assert schema.get("minimum") == shape.minimum, path
    if shape.kind == "integer":
        assert schema["format"] == "int32", path
    if shape.kind == "list" and shape.item is not None:
        assert schema.get("x-kubernetes-list-map-keys", []) == ([shape.key] if shape.key else []), path
        _compare(f"{path}[]", shape.item, schema["items"])
    if shape.kind == "map" and shape.item is not None:
        _compare(f"{path}[]", shape.item, schema["additionalProperties"])
    if shape.kind == "object" and shape.fields:
        known = {name: child for name, child in shape.fields.items() if child.known_in(DEFAULT)}
        properties = schema["properties"]
        assert set(known) <= set(properties) if shape.partial else set(known) == set(properties), path
        needed = {name for name in schema.get("required", []) if "default" not in properties[name]}
        required = {name for name, child in known.items() if child.required_in(DEFAULT)}
        assert required == (needed & set(known) if shape.partial else needed), path
        for name, child in known.items():
            _compare(f"{path}.{name}", child, properties[name])


def test_the_fields_equal_those_of_the_crd() -> None:
    _compare("spec", SPEC, crd_spec())


@pytest.mark.parametrize("field", ["", "rayClusterSpec.workerGroupSpecs", "deletionStrategy.deletionRules.condition"])
def test_the_defaults_equal_those_of_the_crd(field: str) -> None:
    schema = crd_spec()
    for name in filter(None, field.split(".")):
        schema = schema["properties"][name]
        schema = schema.get("items", schema)
    defaults = {name: child["default"] for name, child in schema["properties"].items() if "default" in child}
    applied: Any = defaulted(
        {
            "spec": {
                "rayClusterSpec": {"workerGroupSpecs": [{}]},
                "deletionStrategy": {"deletionRules": [{"condition": {}}]},
            }
        }
    )["spec"]
    for name in filter(None, field.split(".")):
        applied = applied[name]
        applied = applied[0] if isinstance(applied, list) else applied
    assert {name: value for name, value in applied.items() if not isinstance(value, dict)} == defaults


def test_samples_come_from_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMODCACHE", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="has no KubeRay operator"):
        operator_source()
