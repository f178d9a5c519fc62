"""The JSON Schema of the settings file agrees with what the settings accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.schema_export import settings_schema
from kuberay_policies.settings_file import SettingsError, resolve

SCHEMA_FILE = Path(__file__).parents[2] / "policies" / "kuberay-policies.schema.json"
WAIVER = {"policies": ["P101"], "targets": ["*"], "reason": "x", "expires": "9999-12-31"}

GOOD: list[dict[str, Any]] = [
    {},
    {"kuberayVersion": "1.7.0", "featureGates": {"RayCronJob": True}, "kueueVersion": "0.19.2"},
    {"policies": {"P101": "off", "ttl-limit": {"severity": "error", "maxSeconds": 60}}},
    {"policies": {"registry-allowed": {"allowed": ["docker.io/rayproject"]}}, "waivers": [WAIVER]},
    {"environments": {"dev": {"policies": {"P301": "warning"}}}, "defaultEnvironment": "dev"},
]
BAD: list[dict[str, Any]] = [
    {"versions": {}},
    {"featureGates": {"RayCronJob": "on"}},
    {"policies": {"P999": "off"}},
    {"policies": {"P101": "fatal"}},
    {"policies": {"ttl-limit": {"maxSecond": 60}}},
    {"policies": {"ttl-limit": {"maxSeconds": "60"}}},
    {"policies": {"ttl-limit": {"maxSeconds": -1}}},
    {"waivers": [{**WAIVER, "targets": []}]},
    {"waivers": [{key: value for key, value in WAIVER.items() if key != "expires"}]},
    {"environments": {"dev": {"environments": {}}}, "defaultEnvironment": "dev"},
]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(settings_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_committed_schema_is_the_exported_one() -> None:
    assert SCHEMA_FILE.read_text() == settings_schema(), "run `kuberay-policies export schema -o` on it"


@pytest.mark.parametrize("content", GOOD, ids=str)
def test_what_is_accepted_is_valid(validator: jsonschema.Draft202012Validator, content: dict[str, Any]) -> None:
    resolve(content)
    validator.validate(content)


@pytest.mark.parametrize("content", BAD, ids=str)
def test_what_is_refused_is_not_valid(validator: jsonschema.Draft202012Validator, content: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        resolve(content)
    assert not validator.is_valid(content)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.id)
def test_parameters_are_described_and_have_defaults(policy: Any) -> None:
    for name, info in policy.parameters.model_fields.items():
        assert info.description and info.description.endswith("."), name
        assert not info.is_required(), name
    assert policy.parameters() == policy.parameters.model_validate({})
    assert policy.why.endswith("."), "why is made of sentences"
    assert not policy.title.endswith(".")
