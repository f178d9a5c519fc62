from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from recording_engine import STACKS
from stack_config import StackConfig

from pulumi_kuberay import HelmChart, KubeRayCrdsArgs, KubeRayOperatorArgs, KustomizeFolders


def test_an_empty_configuration_declares_nothing() -> None:
    assert StackConfig.parse({}) == StackConfig(
        crds=None, operator=None, namespaces=(), namespace="default", manifests=()
    )


def test_every_key_is_read() -> None:
    config = StackConfig.parse(
        {
            "throwaway": True,
            "crds": {"folder": "crds", "checksum": "abc"},
            "operator": {
                "version": "1.6.2",
                "kustomize": {"paths": ["rbac", "manager"]},
                "namespace": "kuberay",
                "replicas": 1,
                "leaderElection": False,
                "featureGates": {"RayCronJob": True},
                "env": {"A": "b"},
            },
            "namespaces": ["ray-jobs"],
            "namespace": "ray-jobs",
            "manifests": ["job.yaml"],
        }
    )

    assert config.crds == KubeRayCrdsArgs(folder="crds", expected_checksum="abc", throwaway=True)
    assert config.operator == KubeRayOperatorArgs(
        version="1.6.2",
        kustomize=KustomizeFolders(paths=("rbac", "manager"), patches=()),
        namespace="kuberay",
        replicas=1,
        leader_election=False,
        watch_namespaces=(),
        feature_gates={"RayCronJob": True},
        env={"A": "b"},
    )
    assert (config.namespaces, config.namespace) == (("ray-jobs",), "ray-jobs")
    assert config.manifests == (Path("job.yaml"),)


def test_the_values_come_from_the_stack_file_as_pulumi_hands_them_over() -> None:
    pulumi.runtime.set_all_config(
        {
            "kuberay:throwaway": "true",
            "kuberay:namespace": "123",
            "kuberay:operator": '{"chart": {"path": "c"}}',
            "kubernetes:context": "kind-kind",
        }
    )
    try:
        config = StackConfig.load()
    finally:
        pulumi.runtime.set_all_config({})

    assert config.namespace == "123"
    assert config.operator is not None and config.operator.chart == HelmChart(path="c")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"manifest": ["a.yaml"]}, "kuberay has no key 'manifest'; it knows crds, manifests,"),
        ({"throwaway": "yes"}, "kuberay:throwaway must be true or false, but it is 'yes'"),
        ({"crds": "folder"}, "kuberay:crds must be a mapping, but it is 'folder'"),
        ({"crds": {"path": "x"}}, "kuberay:crds has no key 'path'; it knows chart, checksum, folder, url"),
        ({"operator": {"replicas": "2"}}, "kuberay:operator.replicas must be an integer, but it is '2'"),
        ({"operator": {"replicas": True}}, "kuberay:operator.replicas must be an integer, but it is True"),
        ({"operator": {"chart": {"name": "x"}}}, "kuberay:operator.chart has no key 'name'"),
        ({"namespaces": "a"}, "kuberay:namespaces must be a list of strings"),
        ({"manifests": [1]}, r"kuberay:manifests must be a list of strings, but it is \[1\]"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_its_key(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pulumi.RunError, match=sentence):
        StackConfig.parse(values)


@pytest.mark.parametrize("stack", ["dev", "staging", "prod", "kind"])
def test_the_environments_in_the_repository_are_valid_and_protect_their_crds(stack: str) -> None:
    values = yaml.safe_load((STACKS / f"Pulumi.{stack}.yaml").read_text())["config"]
    own = {key.removeprefix("kuberay:"): value for key, value in values.items() if key.startswith("kuberay:")}

    config = StackConfig.parse(own)

    assert config.crds is not None and not config.crds.throwaway
    assert config.operator is not None and config.operator.version == "1.6.2"
