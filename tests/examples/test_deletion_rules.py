from tests.examples.programs import RunExample


def test_nothing_is_left_however_the_job_ends(example: RunExample) -> None:
    job = example("deletion-rules").one("kubernetes:ray.io/v1:RayJob")

    rules = job["spec"]["deletionStrategy"]["deletionRules"]
    ends = [
        (
            rule["condition"].get("jobStatus") or rule["condition"].get("jobDeploymentStatus"),
            rule["condition"]["ttlSeconds"],
        )
        for rule in rules
        if rule["policy"] == "DeleteCluster"
    ]
    assert sorted(ends) == [("FAILED", 86400), ("Failed", 86400), ("SUCCEEDED", 900)]


def test_workers_go_before_the_head(example: RunExample) -> None:
    job = example("deletion-rules").one("kubernetes:ray.io/v1:RayJob")

    rules = job["spec"]["deletionStrategy"]["deletionRules"]
    times = {
        (rule["policy"], rule["condition"]["jobStatus"]): rule["condition"]["ttlSeconds"]
        for rule in rules
        if "jobStatus" in rule["condition"]
    }
    for status in ("SUCCEEDED", "FAILED"):
        assert times["DeleteWorkers", status] < times["DeleteCluster", status]


def test_the_job_is_in_no_queue_since_kueue_refuses_deletion_rules(example: RunExample) -> None:
    job = example("deletion-rules").one("kubernetes:ray.io/v1:RayJob")

    assert "labels" not in job["metadata"] and "shutdownAfterJobFinishes" not in job["spec"]
