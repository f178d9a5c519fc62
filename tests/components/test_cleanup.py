import pytest

from pulumi_kuberay import (
    ArgumentError,
    Cleanup,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    deletion_rules,
    keep,
    shut_down,
)
from pulumi_kuberay.cleanup import cleanup_fields

SUCCEEDED, FAILED = FinishedJobStatus.SUCCEEDED, FinishedJobStatus.FAILED


def test_a_cluster_can_be_kept() -> None:
    assert cleanup_fields(keep()) == {"shutdownAfterJobFinishes": False}


def test_a_cluster_can_be_shut_down() -> None:
    assert cleanup_fields(shut_down(ttl_seconds=60)) == {
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": 60,
    }


def test_a_cluster_can_be_deleted_in_stages() -> None:
    rules = cleanup_fields(
        deletion_rules(
            DeletionRule(policy=DeletionPolicy.DELETE_WORKERS, job_status=SUCCEEDED, ttl_seconds=30),
            DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, deployment_failed=True),
        )
    )["deletionStrategy"]["deletionRules"]

    assert rules == [
        {"policy": "DeleteWorkers", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 30}},
        {"policy": "DeleteCluster", "condition": {"jobDeploymentStatus": "Failed", "ttlSeconds": 0}},
    ]


def test_a_job_that_kuberay_gave_up_is_cleaned_up_too() -> None:
    *_, added = cleanup_fields(
        deletion_rules(
            DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, job_status=SUCCEEDED, ttl_seconds=10),
            DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, job_status=FAILED, ttl_seconds=600),
        )
    )["deletionStrategy"]["deletionRules"]

    assert added == {
        "policy": "DeleteCluster",
        "condition": {"jobDeploymentStatus": "Failed", "ttlSeconds": 600},
    }


def test_nothing_is_added_where_failed_jobs_are_to_be_kept() -> None:
    rules = deletion_rules(DeletionRule(policy=DeletionPolicy.DELETE_NONE, job_status=FAILED))

    assert len(cleanup_fields(rules)["deletionStrategy"]["deletionRules"]) == 1


@pytest.mark.parametrize(
    ("cleanup", "sentence"),
    [
        (Cleanup(), "but none of them is set"),
        (Cleanup(keep=True, shut_down_after_seconds=1), "but keep and shut_down_after_seconds is set"),
        (shut_down(-1), "0 seconds or more, but it is -1"),
        (deletion_rules(), "deletion rules of a RayJob are empty"),
        (deletion_rules(DeletionRule(policy=DeletionPolicy.DELETE_NONE)), "DeleteNone has none"),
        (
            deletion_rules(DeletionRule(policy=DeletionPolicy.DELETE_NONE, job_status=FAILED, deployment_failed=True)),
            "DeleteNone has both",
        ),
    ],
)
def test_what_is_not_one_choice_is_refused(cleanup: Cleanup, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        cleanup_fields(cleanup)
