from pathlib import Path
from typing import Any

import pytest
from config_errors import ConfigError
from stack_config import StackConfig
from stack_defaults import with_defaults

from pulumi_kuberay import HelmChart

RELEASE = "https://github.com/ray-project/kuberay-helm/releases/download/kuberay-operator-1.7.0"


def configured(**values: Any) -> StackConfig:
    return with_defaults(StackConfig.parse(values))


def test_one_version_of_kuberay_is_that_of_crds_operator_and_rules() -> None:
    config = configured(versions={"kuberay": "1.7.0"}, crds={}, operator={}, rayJobs={"a": {}})

    assert config.crds is not None and config.crds.url == f"{RELEASE}/kuberay-operator-1.7.0.tgz"
    assert config.operator is not None and config.operator.version == "1.7.0"
    assert config.ray_jobs["a"].kuberay_version == "1.7.0"


def test_a_part_with_a_version_of_its_own_keeps_it() -> None:
    config = configured(versions={"kuberay": "1.7.0"}, crds={"folder": "crds"}, operator={"version": "v1.6.2"})

    assert config.crds is not None and (config.crds.folder, config.crds.url) == ("crds", None)
    assert config.operator is not None and config.operator.version == "1.6.2"


def test_what_a_stack_does_not_own_stays_away() -> None:
    config = configured(versions={"kuberay": "1.7.0"}, throwaway=True)

    assert (config.crds, config.operator) == (None, None)


def test_jobs_take_namespace_ray_version_and_gates_from_the_stack() -> None:
    config = configured(
        versions={"ray": "2.53.0"},
        namespace="ray-jobs",
        operator={"featureGates": {"RayCronJob": True}},
        rayJobs={
            "plain": {},
            "own": {"namespace": "elsewhere", "cluster": {"rayVersion": "2.50.0"}},
            "image": {"cluster": {"image": "registry.example/ray:2.50.0"}},
            "spec": {"rayClusterSpec": {"rayVersion": "2.50.0"}},
            "selector": {"clusterSelector": "shared"},
            "whole": {"manifest": {"kind": "RayJob"}},
        },
    )

    jobs = {
        name: (job.namespace, job.cluster.ray_version if job.cluster else None) for name, job in config.ray_jobs.items()
    }
    assert jobs == {
        "plain": ("ray-jobs", "2.53.0"),
        "own": ("elsewhere", "2.50.0"),
        "image": ("ray-jobs", None),
        "spec": ("ray-jobs", None),
        "selector": ("ray-jobs", None),
        "whole": (None, None),
    }
    assert {str(job.feature_gates) for job in config.ray_jobs.values()} == {"{'RayCronJob': True}"}


def test_ray_clusters_take_the_same_from_the_stack() -> None:
    config = configured(versions={"kuberay": "1.7.0", "ray": "2.53.0"}, namespace="ray-jobs", rayClusters={"a": {}})

    cluster = config.ray_clusters["a"]
    assert (cluster.namespace, cluster.kuberay_version) == ("ray-jobs", "1.7.0")
    assert cluster.cluster is not None and cluster.cluster.ray_version == "2.53.0"


def test_local_queues_are_in_the_namespace_of_the_stack() -> None:
    queues = {"a": {"clusterQueue": "shared"}, "b": {"clusterQueue": "shared", "namespace": "elsewhere"}}

    config = configured(namespace="ray-jobs", localQueues=queues)

    assert [queue.namespace for queue in config.local_queues.values()] == ["ray-jobs", "elsewhere"]


@pytest.mark.parametrize("name", ["kuberay-operator", "kuberay-operator-1.7.0.tgz"])
def test_charts_of_a_folder_replace_those_of_the_repository(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()

    config = configured(charts=str(tmp_path), versions={"kuberay": "1.7.0"}, crds={}, operator={})

    assert config.crds is not None and config.crds.chart == str(tmp_path / name)
    assert config.operator is not None and config.operator.chart == HelmChart(path=str(tmp_path / name))


def test_a_chart_that_is_not_in_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected kuberay-operator or kuberay-operator-1\.6\.2\.tgz"):
        configured(charts=str(tmp_path), operator={})


def test_charts_do_not_replace_a_kustomization(tmp_path: Path) -> None:
    config = configured(charts=str(tmp_path), operator={"kustomize": {"paths": ["config/default"]}})

    assert config.operator is not None and config.operator.chart is None


def test_kueue_has_a_version_a_chart_and_a_protection_as_the_operator_has(tmp_path: Path) -> None:
    (tmp_path / "kueue-0.18.1.tgz").touch()

    config = configured(versions={"kueue": "v0.18.1"}, charts=str(tmp_path), throwaway=True, kueue={})

    assert config.kueue is not None
    assert (config.kueue.version, config.kueue.throwaway) == ("0.18.1", True)
    assert config.kueue.chart == HelmChart(path=str(tmp_path / "kueue-0.18.1.tgz"))
