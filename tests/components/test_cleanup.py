from typing import Any

import pytest

from kuberay_model.versions import Version
from pulumi_kuberay import (
    ArgumentError,
    Cleanup,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    deletion_rules,
    keep,
    legacy,
    shut_down,
)
from pulumi_kuberay.cleanup import cleanup_fields, deletes_itself

V1_5, V1_6 = Version(1, 5, 2), Version(1, 6, 2)
SUCCEEDED, FAILED = FinishedJobStatus.SUCCEEDED, FinishedJobStatus.FAILED


def fields(cleanup: Cleanup, version: Version = V1_6) -> dict[str, Any]:
    return cleanup_fields(cleanup, version)


def test_a_cluster_can_be_kept_without_a_field_that_the_operator_drops() -> None:
    assert fields(keep()) == {}


def test_a_cluster_can_be_shut_down() -> None:
    assert fields(shut_down(ttl_seconds=60)) == {
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": 60,
    }


def test_a_cluster_can_be_deleted_in_stages() -> None:
    rules = fields(
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
    *_, added = fields(
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

    assert len(fields(rules)["deletionStrategy"]["deletionRules"]) == 1


def test_kuberay_1_5_gets_no_rule_that_it_does_not_know() -> None:
    rule = DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, job_status=FAILED)

    assert len(fields(deletion_rules(rule), V1_5)["deletionStrategy"]["deletionRules"]) == 1
    with pytest.raises(ArgumentError, match=r"deployment_failed, which KubeRay 1\.5\.2 does not know"):
        fields(deletion_rules(DeletionRule(policy=DeletionPolicy.DELETE_CLUSTER, deployment_failed=True)), V1_5)


def test_the_words_of_kuberay_1_5_are_taken() -> None:
    choice = legacy(DeletionPolicy.DELETE_WORKERS, DeletionPolicy.DELETE_CLUSTER, shut_down_after_seconds=60)

    assert fields(choice) == {
        "deletionStrategy": {"onSuccess": {"policy": "DeleteWorkers"}, "onFailure": {"policy": "DeleteCluster"}},
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": 60,
    }
    assert "shutdownAfterJobFinishes" not in fields(legacy(DeletionPolicy.DELETE_NONE, DeletionPolicy.DELETE_NONE))


def test_a_job_that_deletes_itself_is_told_from_others() -> None:
    delete_self = DeletionRule(policy=DeletionPolicy.DELETE_SELF, job_status=SUCCEEDED)

    assert deletes_itself(fields(deletion_rules(delete_self)))
    assert deletes_itself(fields(legacy(DeletionPolicy.DELETE_NONE, DeletionPolicy.DELETE_SELF)))
    assert not deletes_itself(fields(shut_down()))
    assert not deletes_itself(fields(keep()))


@pytest.mark.parametrize(
    ("cleanup", "sentence"),
    [
        (Cleanup(), "but set is none of them"),
        (Cleanup(keep=True, shut_down_after_seconds=1), "but set is keep and shut_down_after_seconds"),
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
        fields(cleanup)
