"""From the OpenAPI schema of a CRD to the JSON Schema of what it says about structure.

Kept are types, properties, required fields, enums, limits, patterns, formats of integers and times, keys of lists and
the rules in CEL. Objects are closed unless they preserve unknown fields, as in every structural schema.
`status` is left open, because the API server ignores it when an object is applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COPIED = ("enum", "minimum", "maximum", "pattern", "minLength", "maxLength", "minItems", "maxItems", "default")
_FORMATS = ("int32", "int64", "date-time")
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_LIST_KEYS = "x-kubernetes-list-map-keys"
_LIST_TYPE = "x-kubernetes-list-type"
_RULES = "x-kubernetes-validations"

_STRING = {"type": "string"}
_STRINGS = {"type": "object", "additionalProperties": _STRING}
_INT64 = {"type": "integer", "format": "int64"}
_OWNER = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("apiVersion", "kind", "name", "uid"), _STRING),
        "controller": {"type": "boolean"},
        "blockOwnerDeletion": {"type": "boolean"},
    },
    "required": ["apiVersion", "kind", "name", "uid"],
}
OBJECT_META: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink"), _STRING),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _STRING),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _INT64),
        "labels": _STRINGS,
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": _STRING},
        "ownerReferences": {"type": "array", "items": _OWNER},
        "managedFields": {"type": "array", "items": {"type": "object", _PRESERVE: True}},
    },
}
"""`metadata` of every object, which a CRD leaves to Kubernetes (`ObjectMeta` of `meta/v1`)."""


def distil(root: Mapping[str, Any]) -> dict[str, Any]:
    """Return the structure in the `openAPIV3Schema` of a CRD version."""
    distilled = _node(root)
    distilled["properties"] = {**distilled["properties"], "metadata": OBJECT_META, "status": {}}
    return distilled


def _node(source: Mapping[str, Any]) -> dict[str, Any]:
    node: dict[str, Any] = {name: source[name] for name in _COPIED if name in source}
    if source.get(_INT_OR_STRING):
        node["type"] = ["integer", "string"]
    elif "type" in source:
        node["type"] = source["type"]
    if source.get("format") in _FORMATS:
        node["format"] = source["format"]
    if "properties" in source:
        node["properties"] = {name: _node(child) for name, child in source["properties"].items()}
        if required := [name for name in source.get("required", ()) if "default" not in source["properties"][name]]:
            node["required"] = required
    if isinstance(source.get("items"), Mapping):
        node["items"] = _node(source["items"])
    if isinstance(source.get("additionalProperties"), Mapping):
        node["additionalProperties"] = _node(source["additionalProperties"])
    if source.get(_PRESERVE) or source.get("additionalProperties") is True:
        node[_PRESERVE] = True
    if source.get(_LIST_TYPE) == "map":
        node[_LIST_KEYS] = source[_LIST_KEYS]
    elif source.get(_LIST_TYPE) == "set":
        node["uniqueItems"] = True
    if rules := [entry["rule"] for entry in source.get(_RULES, ())]:
        node[_RULES] = rules
    return node
