from pulumi.provider.experimental.analyzer import Analyzer

import pulumi_kuberay

COMPONENTS = [pulumi_kuberay.KubeRayCrds, pulumi_kuberay.KubeRayOperator, pulumi_kuberay.RayJob]


def test_pulumi_can_infer_a_schema_so_that_other_languages_can_use_the_components() -> None:
    components = Analyzer("kuberay").analyze(COMPONENTS)["component_definitions"]

    assert set(components) == {"KubeRayCrds", "KubeRayOperator", "RayJob"}
    assert "rayClusterSpec" in components["RayJob"].inputs
    assert set(components["KubeRayCrds"].outputs) == {"names", "checksum"}


def test_every_property_has_a_description() -> None:
    components = Analyzer("kuberay").analyze(COMPONENTS)["component_definitions"]

    missing = [
        f"{name}.{key}"
        for name, component in components.items()
        for key, prop in {**component.inputs, **component.outputs}.items()
        if not prop.description
    ]
    assert missing == []
