from typing import Any, cast

import pulumi
import pytest
from recording_engine import Run

from pulumi_kuberay import (
    ArgumentError,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    PodTemplate,
    RayClusterTemplate,
    RayJob,
    RayJobArgs,
    SubmissionMode,
    Submitter,
    WorkerGroup,
    deletion_rules,
    keep,
    queue,
    shut_down,
    suspended,
)
from pulumi_kuberay.ray_job_manifest import ray_job_manifest

RAY_JOB = "kubernetes:ray.io/v1:RayJob"
CLUSTER = {"headGroupSpec": {"template": {"spec": {"containers": [{"name": "ray-head", "image": "ray"}]}}}}
RULE = {"policy": "DeleteCluster", "condition": {"jobStatus": "FAILED"}}
CLEAN_UP = DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, job_status=FinishedJobStatus.FAILED)
MANIFEST = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "metadata": {"name": "counter", "namespace": "ray-jobs"},
    "spec": {"entrypoint": "python count.py", "rayClusterSpec": CLUSTER},
}


def spec(**args: Any) -> dict[str, Any]:
    job: dict[str, Any] = ray_job_manifest("counter", RayJobArgs(**({"entrypoint": "python count.py"} | args)))["spec"]
    return job


def test_a_job_needs_an_entrypoint_and_has_safe_defaults() -> None:
    job = ray_job_manifest("counter", RayJobArgs(entrypoint="python count.py"))

    assert (job["apiVersion"], job["kind"], job["metadata"]) == ("ray.io/v1", "RayJob", {"name": "counter"})
    assert job["spec"]["submissionMode"] == "K8sJobMode"
    assert job["spec"]["shutdownAfterJobFinishes"] is True
    assert job["spec"]["ttlSecondsAfterFinished"] == 300
    assert job["spec"]["preRunningDeadlineSeconds"] == 1800
    assert "suspend" not in job["spec"]


def test_extra_is_merged_over_everything_and_null_removes() -> None:
    job = spec(ray_cluster_spec=CLUSTER, extra={"entrypointNumCpus": 1, "preRunningDeadlineSeconds": None})

    assert job["entrypointNumCpus"] == 1
    assert "preRunningDeadlineSeconds" not in job


def test_whole_numbers_stay_whole_when_another_language_sends_them_as_floats() -> None:
    workers = [WorkerGroup(name="small", replicas=cast(int, 3.0))]
    job = spec(backoff_limit=2.0, cluster=RayClusterTemplate(workers=workers))

    assert repr(job["backoffLimit"]) == "2"
    assert repr(job["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"]) == "3"


def test_values_may_be_outputs_of_other_resources(run: Run) -> None:
    engine = run(
        lambda: RayJob(
            "counter",
            RayJobArgs(
                entrypoint=pulumi.Output.from_input("python count.py"),
                cluster=RayClusterTemplate(image=pulumi.Output.from_input("registry.example/ray:1")),
                backoff_limit=pulumi.Output.from_input(1),
            ),
        )
    )

    job = engine.one(RAY_JOB)["spec"]
    assert (job["entrypoint"], job["backoffLimit"]) == ("python count.py", 1)


def test_a_whole_manifest_is_used_as_it_stands(run: Run) -> None:
    engine = run(lambda: RayJob.from_manifest("ray-jobs/counter", {**MANIFEST, "status": {"jobStatus": "FAILED"}}))

    job = engine.one(RAY_JOB)
    assert {key: job[key] for key in MANIFEST} == MANIFEST
    assert "status" not in job


def test_outputs_name_the_job(run: Run) -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        job = RayJob.from_manifest("ray-jobs/counter", MANIFEST)
        pulumi.Output.all(job.namespace, job.job_name).apply(lambda both: seen.update(both=both))

    run(program)
    assert seen == {"both": ["ray-jobs", "counter"]}


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"cluster": RayClusterTemplate(), "ray_cluster_spec": CLUSTER}, "together with cluster"),
        ({"manifest": MANIFEST}, "takes nothing else, but entrypoint is set too"),
        ({"runtime_env": {"pip": []}, "runtime_env_yaml": "pip: []"}, "given twice"),
        (
            {"submission_mode": SubmissionMode.HTTP, "submitter": Submitter(backoff_limit=1)},
            "only K8sJobMode has a submitter pod and this one has HTTPMode",
        ),
        ({"submission_mode": SubmissionMode.SIDECAR, "submitter": Submitter()}, "this one has SidecarMode"),
        ({"submission_mode": SubmissionMode.INTERACTIVE}, "InteractiveMode, .* but it has entrypoint"),
        (
            {"submission_mode": SubmissionMode.INTERACTIVE, "entrypoint": None, "backoff_limit": 1},
            "InteractiveMode, .* but it has backoff_limit",
        ),
        ({"cluster_selector": "shared", "cluster": RayClusterTemplate()}, "existing RayCluster .* but has cluster too"),
        ({"cluster_selector": "shared", "cleanup": shut_down()}, "but has cleanup too"),
        ({"cluster_selector": "shared", "backoff_limit": 1}, "but has backoff_limit too"),
        ({"cluster_selector": "shared", "scheduling": queue("team")}, "but has scheduling too"),
        (
            {"cluster_selector": "shared", "submission_mode": SubmissionMode.SIDECAR},
            "SidecarMode; use K8sJobMode or HTTPMode",
        ),
        (
            {"cluster_selector": "shared", "submitter": Submitter(pod=PodTemplate(env={"A": "1"}))},
            "no image, and the image of the RayCluster is not known",
        ),
        ({"scheduling": queue("team"), "cleanup": keep()}, "waits in a queue, .* its cleanup is not shut_down"),
        ({"scheduling": queue("team"), "cleanup": deletion_rules(CLEAN_UP)}, "has no deletion rules"),
        ({"scheduling": suspended(), "cleanup": keep()}, "can be suspended, .* its cleanup is not shut_down"),
        (
            {"scheduling": queue("team"), "ray_cluster_spec": {**CLUSTER, "enableInTreeAutoscaling": True}},
            "Kueue refuses unless the queue is elastic",
        ),
        (
            {"scheduling": queue("team"), "cluster": RayClusterTemplate(workers=[WorkerGroup(name="Head")])},
            "a worker group named head",
        ),
        (
            {"kuberay_version": "1.5.2", "pre_running_deadline_seconds": 60},
            "KubeRay 1.5.2 does not know it and would run the RayJob without",
        ),
        ({"kuberay_version": "latest"}, "three numbers"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        spec(**args)


@pytest.mark.parametrize(
    ("args", "rule"),
    [
        ({"job_name": "a" * 48}, "J1 metadata.name"),
        ({"entrypoint": ""}, "U2 spec.entrypoint"),
        ({"backoff_limit": -1}, "J34 spec.backoffLimit"),
        ({"active_deadline_seconds": 0}, "J32 spec.activeDeadlineSeconds"),
        (
            {"cluster": RayClusterTemplate(workers=[WorkerGroup(name="a"), WorkerGroup(name="a")])},
            "U16 spec.rayClusterSpec",
        ),
        (
            {"cleanup": shut_down(), "extra": {"deletionStrategy": {"deletionRules": [RULE]}}},
            "J7 spec.deletionStrategy",
        ),
        ({"cleanup": deletion_rules(CLEAN_UP), "feature_gates": {"RayJobDeletionPolicy": False}}, "J6 spec"),
        ({"cleanup": keep(), "extra": {"suspend": True}}, "J3 spec.suspend"),
    ],
)
def test_a_job_that_cannot_work_on_kuberay_fails_at_preview(run: Run, args: dict[str, Any], rule: str) -> None:
    with pytest.raises(ArgumentError, match=f"cannot work on KubeRay 1.6.2.\n- {rule}"):
        run(lambda: RayJob("counter", RayJobArgs(**({"entrypoint": "python count.py"} | args))))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "RayCluster"}, "'ray.io/v1' and 'RayCluster'"),
        ({"spec": None}, "must have the mappings metadata and spec"),
        ({"metadata": {}}, "The RayJob None cannot work"),
    ],
)
def test_a_manifest_of_something_else_is_refused(run: Run, change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        run(lambda: RayJob.from_manifest("counter", MANIFEST | change))
