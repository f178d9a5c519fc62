from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from config_errors import ConfigError
from stack_config import StackConfig, Versions, stack_values
from stack_file import StackFile

from pulumi_kuberay import (
    HelmChart,
    KubeRayCrdsArgs,
    KubeRayOperatorArgs,
    KustomizeFolders,
    RayClusterTemplate,
    RayJobArgs,
    SubmissionMode,
    WorkerGroup,
)


def test_an_empty_configuration_declares_nothing() -> None:
    config = StackConfig.parse({})

    assert (config.crds, config.operator, config.namespace) == (None, None, "default")
    assert not any((config.namespaces, config.ray_jobs, config.manifests, config.protect, config.throwaway))


def test_the_keys_are_the_fields_of_the_components_in_camel_case() -> None:
    config = StackConfig.parse(
        {
            "throwaway": True,
            "versions": {"kuberay": "1.7.0"},
            "crds": {"folder": "crds", "expectedChecksum": "abc"},
            "operator": {
                "kustomize": {"paths": ["rbac", "manager"], "patches": [{"patch": "x"}]},
                "namespace": "kuberay",
                "replicas": 1,
                "leaderElection": False,
                "featureGates": {"RayCronJob": True},
                "env": {"A": "b"},
                "values": {"batchScheduler": {"enabled": True}},
            },
            "namespaces": ["ray-jobs"],
            "namespace": "ray-jobs",
            "rayJobs": {
                "counter": {
                    "entrypoint": "python count.py",
                    "submissionMode": "HTTPMode",
                    "cluster": {"workers": [{"name": "small", "replicas": 2}]},
                    "backoffLimit": None,
                }
            },
            "manifests": ["~/job.yaml"],
        }
    )

    assert config.versions == Versions(kuberay="1.7.0")
    assert config.crds == KubeRayCrdsArgs(folder="crds", expected_checksum="abc")
    assert config.operator == KubeRayOperatorArgs(
        kustomize=KustomizeFolders(paths=["rbac", "manager"], patches=[{"patch": "x"}]),
        namespace="kuberay",
        replicas=1,
        leader_election=False,
        feature_gates={"RayCronJob": True},
        env={"A": "b"},
        values={"batchScheduler": {"enabled": True}},
    )
    assert config.ray_jobs == {
        "counter": RayJobArgs(
            entrypoint="python count.py",
            submission_mode=SubmissionMode.HTTP,
            cluster=RayClusterTemplate(workers=[WorkerGroup(name="small", replicas=2)]),
        )
    }
    assert config.manifests == [Path.home() / "job.yaml"]


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
        config = StackConfig.load(StackFile())
    finally:
        pulumi.runtime.set_all_config({})

    assert config.throwaway and config.namespace == "123"
    assert config.operator is not None and config.operator.chart == HelmChart(path="c")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"manifest": ["a.yaml"]}, "The configuration has no key 'manifest'. Did you mean 'manifests'?"),
        ({"ray_jobs": {}}, "The configuration has no key 'ray_jobs'. Did you mean 'rayJobs'?"),
        ({"throwaway": "yes"}, "kuberay:throwaway must be true or false, but it is 'yes'."),
        ({"crds": "folder"}, "kuberay:crds must be a mapping, but it is 'folder'."),
        ({"crds": {"path": "x"}}, "kuberay:crds has no key 'path'. It has chart, "),
        (
            {"versions": {"kuberay": 1.6}},
            "kuberay:versions.kuberay must be a string, but it is 1.6. Write it in quotes.",
        ),
        (
            {"operator": {"replicas": "2"}},
            "kuberay:operator.replicas must be an integer, but it is '2'. Write it without quotes. (Number of operator",
        ),
        ({"operator": {"replicas": True}}, "kuberay:operator.replicas must be an integer, but it is true."),
        ({"operator": {"replicas": 1.5}}, "kuberay:operator.replicas must be an integer, but it is 1.5."),
        ({"operator": {"leaderElection": "true"}}, "must be true or false, but it is 'true'. Write it without quotes."),
        ({"operator": {"env": {"A": 1}}}, "kuberay:operator.env.A must be a string, but it is 1. Write it in quotes."),
        ({"operator": {"env": ["A"]}}, "kuberay:operator.env must be a mapping, but it is ['A']."),
        ({"namespaces": "a"}, "kuberay:namespaces must be a list of strings, but it is 'a'. Write each one on a line"),
        ({"manifests": ["a", 1]}, "kuberay:manifests[1] must be a path, but it is 1. Write it in quotes."),
        (
            {"rayJobs": {"a": {"submissionMode": "http"}}},
            "kuberay:rayJobs.a.submissionMode must be one of K8sJobMode, HTTPMode, SidecarMode or InteractiveMode, "
            "but it is 'http'. Did you mean 'HTTPMode'?",
        ),
        (
            {"rayJobs": {"a": {"cluster": {"workers": [{}]}}}},
            "kuberay:rayJobs.a.cluster.workers[0] needs the key 'name'.",
        ),
        ({"protect": True, "throwaway": True}, "kuberay:protect keeps what kuberay:throwaway lets go"),
    ],
)
def test_a_wrong_value_is_refused_with_its_key_and_a_remedy(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        StackConfig.parse(values)

    assert sentence in str(error.value)


WRONG_FILE = """\
config:
  kubernetes:context: kind-kind
  # A comment.
  kuberay:operator:
    chart: {path: c}
    replica: 2
  kuberay:rayJobs:
    counter:
      cluster:
        workers:
          - {name: a}
          - name: b
            replicas: many
  kuberay:namespace: x
"""


def test_every_problem_is_told_at_once_with_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text(WRONG_FILE)
    values = {
        key.removeprefix("kuberay:"): value
        for key, value in yaml.safe_load(WRONG_FILE)["config"].items()
        if key.startswith("kuberay:")
    }

    with pytest.raises(ConfigError) as error:
        StackConfig.parse(values, StackFile.read(path))

    header, *lines = str(error.value).splitlines()
    assert header == "The configuration has 2 errors:"
    assert lines[0] == "- Pulumi.dev.yaml:6: kuberay:operator has no key 'replica'. Did you mean 'replicas'?"
    assert lines[1].startswith(
        "- Pulumi.dev.yaml:13: kuberay:rayJobs.counter.cluster.workers[1].replicas must be an integer"
    )


@pytest.mark.parametrize("content", ["", "config:", "a: [", "- 1", "config: {kuberay:namespace: x}"])
def test_a_value_from_elsewhere_has_no_place(tmp_path: Path, content: str) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text(content)

    with pytest.raises(ConfigError, match=r"^kuberay:operator must be a mapping"):
        StackConfig.parse({"operator": 1}, StackFile.read(path))


def test_a_value_that_overrides_the_file_has_no_place(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text("config:\n  kuberay:operator: {replicas: many}\n  kuberay:kueue: {replicas: many}\n")
    pulumi.runtime.set_all_config(
        {"kuberay:operator": '{"replicas": "few"}', "kuberay:kueue": '{"replicas": "many"}'},
    )
    try:
        with pytest.raises(ConfigError) as error:
            StackConfig.load(StackFile.read(path).holding(stack_values()))
    finally:
        pulumi.runtime.set_all_config({})

    _, operator, kueue = str(error.value).splitlines()
    assert operator.startswith("- kuberay:operator.replicas") and "'few'" in operator
    assert kueue.startswith("- Pulumi.dev.yaml:3: kuberay:kueue.replicas")


def test_an_encrypted_value_is_refused_unseen() -> None:
    pulumi.runtime.set_all_config({"kuberay:operator": '{"env": {"TOKEN": "hidden"}}'}, ["kuberay:operator"])
    try:
        with pytest.raises(ConfigError, match=r"kuberay:operator has an encrypted value.*Kubernetes Secret") as error:
            StackConfig.load(StackFile())
    finally:
        pulumi.runtime.set_all_config({}, [])

    assert "hidden" not in str(error.value)
