import pulumi
import pytest

from tests.examples.programs import RunExample

JOB = "kubernetes:ray.io/v1:RayJob"


def test_the_workers_belong_to_the_autoscaler(example: RunExample) -> None:
    engine = example("batch-inference", day="2026-01-31", maxWorkers="7")

    job = engine.one(JOB)
    cluster = job["spec"]["rayClusterSpec"]
    [group] = cluster["workerGroupSpecs"]
    assert cluster["enableInTreeAutoscaling"] is True
    assert (group["minReplicas"], group["maxReplicas"], group.get("replicas")) == (0, 7, None)
    assert job["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] == "true"


@pytest.mark.parametrize("workers", ["1", "25"])
def test_the_quota_holds_all_workers_the_head_and_the_submitter(example: RunExample, workers: str) -> None:
    engine = example("batch-inference", day="2026-01-31", maxWorkers=workers)

    cluster = engine.one(JOB)["spec"]["rayClusterSpec"]
    head, worker = (
        int(group["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])
    )
    [group] = engine.one("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue")["spec"]["resourceGroups"]
    quota = {item["name"]: item["nominalQuota"] for item in group["flavors"][0]["resources"]}
    assert int(quota["cpu"]) >= head + worker * int(workers) + 1


def test_each_day_is_a_run_of_its_own(example: RunExample) -> None:
    first, second = (example("batch-inference", day=day).one(JOB)["spec"]["entrypoint"] for day in ("a-day", "b-day"))

    assert first.endswith("--day a-day") and second.endswith("--day b-day")


def test_a_run_needs_its_day(example: RunExample) -> None:
    with pytest.raises(pulumi.ConfigMissingError, match="batch-inference:day"):
        example("batch-inference")
