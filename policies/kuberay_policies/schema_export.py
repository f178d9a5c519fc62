"""The JSON Schema of the settings file, for editors."""

from __future__ import annotations

import json
from typing import Any

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.policy import Policy, Severity
from kuberay_policies.settings_file import FileSettings

SEVERITIES = [severity.value for severity in Severity]


def settings_schema() -> str:
    """Return the JSON Schema of `kuberay-policies.yaml`, every policy with its parameters included."""
    schema = FileSettings.model_json_schema()
    definitions = schema["$defs"]
    del definitions["PolicySetting"]
    definitions.pop("Severity", None)
    definitions["severity"] = {"enum": SEVERITIES, "description": "off asks the policy nothing."}
    policies: dict[str, Any] = {}
    for policy in POLICIES.values():
        definitions[policy.name] = _setting(policy)
        policies |= {key: {"$ref": f"#/$defs/{policy.name}"} for key in (policy.id, policy.name)}
    definitions["policies"] = {"type": "object", "properties": policies, "additionalProperties": False}
    for owner in (schema, definitions["EnvironmentSettings"]):
        described = {"description": owner["properties"]["policies"]["description"]}
        owner["properties"]["policies"] = {**described, "$ref": "#/$defs/policies"}
    _drop_titles(schema)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of kuberay-policies",
        **schema,
    }
    schema["description"] = "Versions, severities, parameters and waivers, in common and by environment."
    return json.dumps(schema, indent=2, sort_keys=False) + "\n"


def _drop_titles(value: Any) -> None:
    """Remove the titles that pydantic makes of names."""
    if isinstance(value, dict):
        if isinstance(value.get("title"), str):
            del value["title"]
        for inner in value.values():
            _drop_titles(inner)
    elif isinstance(value, list):
        for inner in value:
            _drop_titles(inner)


def _setting(policy: Policy) -> dict[str, Any]:
    parameters = policy.parameters.model_json_schema()
    return {
        "description": f"{policy.id}: {policy.title}.",
        "anyOf": [
            {"$ref": "#/$defs/severity"},
            {
                "type": "object",
                "properties": {"severity": {"$ref": "#/$defs/severity"}, **parameters.get("properties", {})},
                "additionalProperties": False,
            },
        ],
    }
