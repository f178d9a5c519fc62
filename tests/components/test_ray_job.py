from typing import Any, cast

import pulumi
import pytest
from recording_engine import Run

from pulumi_kuberay import (
    ArgumentError,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    HeadGroup,
    RayJob,
    RayJobArgs,
    SubmissionMode,
    WorkerGroup,
    deletion_rules,
    keep,
    shut_down,
)
from pulumi_kuberay.ray_job_manifest import changed_by_others, ray_job_manifest

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


def test_a_cluster_is_made_of_a_head_and_worker_groups() -> None:
    cluster = spec(
        image="registry.example/ray:2.52.0",
        head=HeadGroup(resources={"requests": {"cpu": "2"}}, ray_start_params={"num-cpus": "0"}),
        workers=[WorkerGroup(name="small", replicas=2, max_replicas=4, image="registry.example/ray:gpu")],
    )["rayClusterSpec"]

    [head] = cluster["headGroupSpec"]["template"]["spec"]["containers"]
    assert (head["image"], head["resources"]) == ("registry.example/ray:2.52.0", {"requests": {"cpu": "2"}})
    assert cluster["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}
    [group] = cluster["workerGroupSpecs"]
    assert (group["groupName"], group["replicas"], group["minReplicas"], group["maxReplicas"]) == (
        "small",
        2,
        2,
        4,
    )
    assert group["template"]["spec"]["containers"][0]["image"] == "registry.example/ray:gpu"


def test_the_image_follows_the_ray_version() -> None:
    cluster = spec(ray_version="2.55.0")["rayClusterSpec"]

    assert cluster["rayVersion"] == "2.55.0"
    assert cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["image"] == "rayproject/ray:2.55.0"


def test_a_pod_template_is_merged_over_the_one_that_was_made() -> None:
    template = spec(head=HeadGroup(template={"spec": {"nodeSelector": {"pool": "ray"}}}))["rayClusterSpec"][
        "headGroupSpec"
    ]["template"]

    assert template["spec"]["nodeSelector"] == {"pool": "ray"}
    assert template["spec"]["containers"][0]["name"] == "ray-head"


def test_extra_is_merged_over_everything_and_null_removes() -> None:
    job = spec(ray_cluster_spec=CLUSTER, extra={"entrypointNumCpus": 1, "preRunningDeadlineSeconds": None})

    assert job["entrypointNumCpus"] == 1
    assert "preRunningDeadlineSeconds" not in job


def test_whole_numbers_stay_whole_when_another_language_sends_them_as_floats() -> None:
    job = spec(backoff_limit=2.0, workers=[WorkerGroup(name="small", replicas=cast(int, 3.0))])

    assert repr(job["backoffLimit"]) == "2"
    assert repr(job["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"]) == "3"


def test_values_may_be_outputs_of_other_resources(run: Run) -> None:
    engine = run(
        lambda: RayJob(
            "counter",
            RayJobArgs(
                entrypoint=pulumi.Output.from_input("python count.py"),
                image=pulumi.Output.from_input("registry.example/ray:1"),
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


def test_what_kueue_and_the_ray_autoscaler_change_is_left_alone() -> None:
    fixed: dict[str, Any] = {"spec": {"rayClusterSpec": {}}}
    autoscaled = {"spec": {"rayClusterSpec": {"enableInTreeAutoscaling": True}}}

    assert changed_by_others(fixed) == ["spec.suspend"]
    assert changed_by_others(autoscaled) == ["spec.suspend", "spec.rayClusterSpec.workerGroupSpecs[*].replicas"]


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
        (
            {"submission_mode": SubmissionMode.HTTP, "submitter_pod_template": {}},
            "only K8sJobMode has a submitter",
        ),
        ({"ray_cluster_spec": CLUSTER, "image": "ray"}, "together with image"),
        ({"manifest": MANIFEST}, "takes nothing else, but entrypoint is set too"),
        ({"workers": [WorkerGroup(name="a", replicas=2, max_replicas=1)]}, "but they are 2, 2 and 1"),
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
        ({"workers": [WorkerGroup(name="a"), WorkerGroup(name="a")]}, "U16 spec.rayClusterSpec"),
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
