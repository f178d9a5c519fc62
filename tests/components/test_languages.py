import inspect
from typing import Any

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

import pulumi_kuberay

COMPONENTS = [
    exported
    for exported in vars(pulumi_kuberay).values()
    if inspect.isclass(exported) and issubclass(exported, pulumi.ComponentResource)
]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return dict(Analyzer("kuberay").analyze(COMPONENTS))


def test_pulumi_can_infer_a_schema_so_that_other_languages_can_use_every_component(schema: dict[str, Any]) -> None:
    components = schema["component_definitions"]

    assert {"KubeRayCrds", "KubeRayOperator", "Kueue", "ClusterQueue", "LocalQueue", "RayJob"} <= set(components)
    assert set(components["KubeRayCrds"].outputs) == {"names", "checksum"}
    assert set(components["LocalQueue"].outputs) == {"name", "namespace"}


def test_every_property_has_a_description(schema: dict[str, Any]) -> None:
    described = {**schema["component_definitions"], **schema["type_definitions"]}
    missing = [
        f"{name}.{key}"
        for name, definition in described.items()
        for key, prop in _properties(definition).items()
        if not prop.description
    ]
    assert missing == []


def _properties(definition: Any) -> dict[str, Any]:
    if hasattr(definition, "properties"):
        return dict(definition.properties)
    return {**definition.inputs, **definition.outputs}
