"""Schemas: those that come with the package equal the operator's CRDs, others are made from CRDs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kuberay_model import schemas
from kuberay_model.schemas.checking import violations
from kuberay_model.schemas.distil import distil
from kuberay_model.schemas.factoring import expanded, factored
from kuberay_model.schemas.schema import MapKey, Violation
from kuberay_model.versions import SUPPORTED, Version
from kuberay_toolchain import PROGRAMS, Silent, Toolchain

from .crds import crd

STORED = Path(schemas.__file__).parent
OPERATORS = sorted(program.version for program in PROGRAMS if program.name == "kuberay-operator")


@pytest.mark.parametrize("version", OPERATORS)
def test_a_schema_is_what_the_crds_of_the_pinned_operator_give(version: str) -> None:
    crds = Toolchain(progress=Silent()).files(f"kuberay-operator@{version}") / "config" / "crd" / "bases"
    made = schemas.from_crds(crds)
    assert schemas.render(made) == (STORED / f"{version}.json").read_text(), "run `make schemas`"
    assert expanded(json.loads(schemas.render(made))) == dict(made.kinds)


def test_every_stored_schema_belongs_to_a_pinned_operator() -> None:
    assert [str(version) for version in schemas.known()] == OPERATORS
    assert set(schemas.known()) <= set(SUPPORTED)


def test_a_schema_is_small_and_without_descriptions() -> None:
    for version in OPERATORS:
        text = (STORED / f"{version}.json").read_text()
        assert len(text) < 60_000
        assert "description" not in text


def test_patch_releases_share_a_schema() -> None:
    assert schemas.load(Version(1, 5, 2)) is schemas.load(Version(1, 5, 1))


def test_a_version_without_a_schema_says_which_there_are_and_how_others_are_given() -> None:
    assert schemas.find(Version(1, 7, 0)) is None
    with pytest.raises(schemas.SchemaError, match=r"no schema of KubeRay 1\.7\.0 here, only of .*1\.6\.2; .*--crds"):
        schemas.load(Version(1, 7, 0))


def test_the_rules_in_cel_are_the_known_ones() -> None:
    def rules(node: Any) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(rules, node))
        if not isinstance(node, dict):
            return set()
        own = set(node["x-kubernetes-validations"]) if "x-kubernetes-validations" in node else set()
        return own.union(*(rules(child) for name, child in node.items() if name != "x-kubernetes-validations"))

    found = rules(json.loads((STORED / "1.6.2.json").read_text()))
    assert found == {
        "!(has(self.jobStatus) && has(self.jobDeploymentStatus))",  # X10
        "has(self.jobStatus) || has(self.jobDeploymentStatus)",  # X11
        "!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))",  # X7
        "((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))",  # X8
        "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']",  # X6
        "self == oldSelf",  # about updates only
    }


def test_importing_the_rules_loads_neither_jsonschema_nor_a_schema() -> None:
    code = (
        "import sys; import kuberay_model.rules as r; from kuberay_model.schemas import store\n"
        "print('jsonschema' in sys.modules, store._read.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0"]


def test_structure_is_kept_and_prose_is_not() -> None:
    node = distil(
        {
            "type": "object",
            "description": "prose",
            "required": ["a", "b"],
            "properties": {
                "a": {"type": "integer", "format": "int32", "minimum": 1, "description": "prose"},
                "b": {"type": "string", "default": "x", "enum": ["x"]},
                "c": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
                "d": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "e": {"type": "array", "items": {"type": "string", "format": "uri"}, "x-kubernetes-list-type": "set"},
            },
        }
    )
    assert node["required"] == ["a"], "a default fills the other one in"
    properties = {name: node["properties"][name] for name in "abcde"}
    assert properties == {
        "a": {"type": "integer", "format": "int32", "minimum": 1},
        "b": {"type": "string", "default": "x", "enum": ["x"]},
        "c": {"type": ["integer", "string"]},
        "d": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "e": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    }


def test_a_part_that_occurs_twice_is_written_once_and_read_as_one_mapping() -> None:
    part = {"type": "object", "properties": {name: {"type": "string"} for name in ("one", "two", "three")}}
    kinds = {"A": {"properties": {"x": part, "y": {"items": dict(part)}}}}
    document = factored(kinds)
    assert document == {
        "kinds": {"A": {"properties": {"x": {"$ref": "y"}, "y": {"items": {"$ref": "y"}}}}},
        "$defs": {"y": part},
    }
    read = expanded(document)
    assert read == kinds
    assert read["A"]["properties"]["x"] is read["A"]["properties"]["y"]["items"]


def test_crds_come_from_a_file_a_folder_or_the_answer_of_an_api_server(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(json.dumps(crd("RayJob", {"spec": {"type": "object"}})))
    (tmp_path / "cluster.json").write_text(json.dumps(crd("RayCluster", {"spec": {"type": "object"}})))
    (tmp_path / "README.md").write_text("no: [yaml")
    assert list(schemas.from_crds(tmp_path).kinds) == ["RayJob", "RayCluster"]
    assert list(schemas.from_crds(tmp_path / "job.yaml").kinds) == ["RayJob"]
    answer = {"kind": "List", "items": [crd("RayJob", {"spec": {}}), crd("Other", {}, group="example.com")]}
    assert list(schemas.from_objects([answer], "the cluster").kinds) == ["RayJob"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.yaml", None, "cannot be read from .*none.yaml: No such file"),
        ("bad.yaml", "a: [", "bad.yaml: it is no YAML"),
        ("binary.yaml", b"\xff\xfe\xff", "binary.yaml: it is not in UTF-8"),
        ("other.yaml", "kind: Pod", "other.yaml has no CustomResourceDefinition of RayJob, RayCluster"),
        ("list.yaml", "[1, 2]", "list.yaml has no CustomResourceDefinition"),
        ("alpha.yaml", json.dumps(crd("RayJob", {}, version="v1alpha1")), "RayJob in .*alpha.yaml has no schema for"),
        ("broken.yaml", json.dumps(crd("RayJob", {"spec": "x"})), "RayJob in .*broken.yaml is damaged"),
    ],
)
def test_what_holds_no_crds_is_refused_with_the_reason(
    tmp_path: Path, name: str, text: str | bytes | None, message: str
) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(schemas.SchemaError, match=message):
        schemas.from_crds(tmp_path / name)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(schemas.SchemaError, match=r"has no file that ends in \.yaml, \.yml or \.json"):
        schemas.from_crds(tmp_path)


def test_a_path_shows_keys_of_maps_and_indices_in_brackets() -> None:
    path = ("spec", "groups", 0, "params", MapKey("num-cpus"))
    assert Violation("type", "string", 1, path).place == "spec.groups[0].params[num-cpus]"


def test_the_schema_at_a_path_is_found() -> None:
    schema = schemas.load(Version(1, 6, 2))
    template = ("spec", "rayClusterSpec", "headGroupSpec", "template")
    container = (*template, "spec", "containers", 0)
    assert schema.node("RayJob", (*container, "image")) == {"type": "string"}
    assert schema.node("RayJob", (*container, "resources", "limits", MapKey("cpu"))) is not None
    assert schema.node("RayJob", (*container, "nothing", "below")) is None


@pytest.mark.parametrize(
    ("value", "fine"),
    [
        ("2026-01-31T12:00:00Z", True),
        ("2026-01-31T12:00:00.5+01:00", True),
        ("today", False),
        ("2026-13-01T00:00:00Z", False),
    ],
)
def test_times_are_those_of_go(value: str, fine: bool) -> None:
    assert (violations({"type": "string", "format": "date-time"}, value) == []) is fine
