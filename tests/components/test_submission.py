"""Five ways to run a job: four modes of submission, and an existing RayCluster."""

from typing import Any

import pulumi
import pytest
from recording_engine import Run

from pulumi_kuberay import (
    HeadGroup,
    PodSecurityStandard,
    PodTemplate,
    RayClusterTemplate,
    RayJob,
    RayJobArgs,
    SubmissionMode,
    Submitter,
)
from pulumi_kuberay.ray_checks import ray_job_findings
from pulumi_kuberay.ray_job_manifest import ray_job_manifest

RAY_JOB = "kubernetes:ray.io/v1:RayJob"
WAYS: dict[str, dict[str, Any]] = {
    "K8sJobMode": {"entrypoint": "python count.py"},
    "HTTPMode": {"entrypoint": "python count.py", "submission_mode": SubmissionMode.HTTP},
    "SidecarMode": {"entrypoint": "python count.py", "submission_mode": SubmissionMode.SIDECAR},
    "InteractiveMode": {"submission_mode": SubmissionMode.INTERACTIVE},
    "clusterSelector": {"entrypoint": "python count.py", "cluster_selector": "shared"},
}


def job(**args: Any) -> dict[str, Any]:
    spec: dict[str, Any] = ray_job_manifest("counter", RayJobArgs(**args))["spec"]
    return spec


def submitter(**args: Any) -> dict[str, Any]:
    template: dict[str, Any] = job(entrypoint="python count.py", **args)["submitterPodTemplate"]
    return template


@pytest.mark.parametrize("version", ["1.5.2", "1.6.2", "1.7.0"])
@pytest.mark.parametrize("way", list(WAYS))
def test_every_way_works_with_every_release_without_a_warning(way: str, version: str) -> None:
    manifest = ray_job_manifest("counter", RayJobArgs(**WAYS[way], kuberay_version=version))

    expected = {("1.5.2", "InteractiveMode"): ["U11"]}.get((version, way), [])
    assert [finding.split()[0] for finding in ray_job_findings(manifest, version, {})] == expected


@pytest.mark.parametrize("way", ["HTTPMode", "SidecarMode", "InteractiveMode", "clusterSelector"])
def test_only_a_job_on_its_own_cluster_in_k8s_job_mode_has_a_submitter(way: str) -> None:
    assert not {"submitterPodTemplate", "submitterConfig"} & set(job(**WAYS[way]))


def test_a_job_on_an_existing_cluster_names_it_and_cleans_nothing_up() -> None:
    spec = job(**WAYS["clusterSelector"])

    assert spec["clusterSelector"] == {"ray.io/cluster": "shared"}
    assert not {"rayClusterSpec", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished"} & set(spec)


def test_the_submitter_has_the_image_of_the_head_and_safe_resources() -> None:
    template = submitter(
        cluster=RayClusterTemplate(
            image="ray:2.53.0",
            head=HeadGroup(pod=PodTemplate(image="ray:2.53.0-head")),
            pods=PodTemplate(image_pull_secrets=["registry"], node_selector={"pool": "gpu"}),
        )
    )

    spec = template["spec"]
    [container] = spec["containers"]
    assert container["image"] == "ray:2.53.0-head"
    assert container["resources"] == {
        "requests": {"cpu": "500m", "memory": "200Mi"},
        "limits": {"cpu": "1", "memory": "1Gi"},
    }
    assert spec["restartPolicy"] == "Never"
    assert spec["imagePullSecrets"] == [{"name": "registry"}]
    assert "nodeSelector" not in spec


def test_the_submitter_is_as_secure_as_the_pods_of_the_cluster() -> None:
    assert submitter()["spec"]["securityContext"]["runAsNonRoot"] is True

    baseline = RayClusterTemplate(pods=PodTemplate(security=PodSecurityStandard.BASELINE))
    assert "securityContext" not in submitter(cluster=baseline)["spec"]


def test_the_submitter_can_be_described() -> None:
    described = Submitter(
        backoff_limit=0,
        pod=PodTemplate(env={"A": "1"}, service_account="submitter", extra={"spec": {"restartPolicy": "OnFailure"}}),
    )

    assert job(entrypoint="python count.py", submitter=described)["submitterConfig"] == {"backoffLimit": 0}
    spec = submitter(submitter=described)["spec"]
    assert (spec["restartPolicy"], spec["serviceAccountName"]) == ("OnFailure", "submitter")
    assert spec["containers"][0]["env"] == [{"name": "A", "value": "1"}]


def test_a_submitter_for_an_existing_cluster_names_its_image() -> None:
    template = submitter(cluster_selector="shared", submitter=Submitter(pod=PodTemplate(image="ray:2.53.0")))

    assert template["spec"]["containers"][0]["image"] == "ray:2.53.0"


def test_what_ray_is_told_with_the_job() -> None:
    spec = job(
        entrypoint="python count.py",
        runtime_env={"pip": ["requests"], "env_vars": {"A": "1"}},
        entrypoint_num_cpus=0.5,
        entrypoint_num_gpus=1.0,
        entrypoint_resources={"disk": 2.0},
        job_metadata={"owner": "a"},
        job_id="counter-1",
    )

    assert spec["runtimeEnvYAML"] == "env_vars:\n  A: '1'\npip:\n- requests\n"
    assert (spec["entrypointNumCpus"], repr(spec["entrypointNumGpus"])) == (0.5, "1")
    assert spec["entrypointResources"] == '{"disk": 2}'
    assert (spec["metadata"], spec["jobId"]) == ({"owner": "a"}, "counter-1")


def test_a_runtime_environment_may_hold_outputs(run: Run) -> None:
    token = pulumi.Output.from_input("abc")
    args = RayJobArgs(entrypoint="python count.py", runtime_env={"env_vars": {"TOKEN": token}})

    engine = run(lambda: RayJob("counter", args))
    assert engine.one(RAY_JOB)["spec"]["runtimeEnvYAML"] == "env_vars:\n  TOKEN: abc\n"
