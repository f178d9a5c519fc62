"""The operator's own module agrees with the model: its samples are accepted, its CRD has our defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_model.rules import refusal, validate
from kuberay_model.rules.values import defaulted
from kuberay_model.yaml_loader import Loader

from .upstream import operator_source


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
