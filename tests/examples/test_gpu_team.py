from typing import Any

from tests.examples.programs import RunExample

JOB = "kubernetes:ray.io/v1:RayJob"
QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"


def gpus(job: dict[str, Any]) -> int:
    [group] = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    [container] = group["template"]["spec"]["containers"]
    return int(group["replicas"]) * int(container["resources"]["limits"]["nvidia.com/gpu"])


def test_each_job_fits_into_the_quota_but_not_both(example: RunExample) -> None:
    engine = example("gpu-team")

    [group] = engine.one(QUEUE)["spec"]["resourceGroups"]
    quota = {
        flavor["name"]: {item["name"]: item["nominalQuota"] for item in flavor["resources"]}
        for flavor in group["flavors"]
    }
    wanted = [gpus(job) for job in engine.inputs(JOB)]
    assert max(wanted) <= int(quota["gpu"]["nvidia.com/gpu"]) < sum(wanted)
    assert quota["cpu"]["nvidia.com/gpu"] == "0"


def test_the_training_run_goes_first(example: RunExample) -> None:
    engine = example("gpu-team")

    values = {
        item["metadata"]["name"]: item["value"]
        for item in engine.inputs("kubernetes:kueue.x-k8s.io/v1beta2:WorkloadPriorityClass")
    }
    labels = {job["metadata"]["name"]: job["metadata"]["labels"] for job in engine.inputs(JOB)}
    priorities = {name: values[label["kueue.x-k8s.io/priority-class"]] for name, label in labels.items()}
    assert priorities["train-detector"] > priorities["try-augmentation"]
    assert engine.one(QUEUE)["spec"]["preemption"] == {"withinClusterQueue": "LowerPriority"}


def test_jobs_wait_in_the_queue_of_their_namespace(example: RunExample) -> None:
    engine = example("gpu-team")

    entrance = engine.one("kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue")["metadata"]
    for job in engine.inputs(JOB):
        assert job["metadata"]["namespace"] == entrance["namespace"]
        assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == entrance["name"]
        assert "suspend" not in job["spec"]
