"""Which edits of a RayJob are another run, and what others may change without one."""

import copy
from typing import Any

import pulumi
import pytest
from recording_engine import Run

from pulumi_kuberay import ArgumentError, RayJob, RayJobArgs, RunNaming, SubmissionMode, queue, shut_down, suspended
from pulumi_kuberay.ray_job_manifest import ray_job_manifest
from pulumi_kuberay.run_identity import content_hash, left_alone, run_name

RAY_JOB = "kubernetes:ray.io/v1:RayJob"


def manifest(**args: Any) -> dict[str, Any]:
    return ray_job_manifest("counter", RayJobArgs(**({"entrypoint": "python count.py"} | args)))


IDENTITY = content_hash(manifest(), None)


@pytest.mark.parametrize(
    "args",
    [
        {"entrypoint": "python other.py"},
        {"runtime_env": {"pip": ["requests"]}},
        {"submission_mode": SubmissionMode.HTTP},
        {"extra": {"rayClusterSpec": {"rayVersion": "2.53.0"}}},
    ],
)
def test_an_edit_of_what_kuberay_reads_once_is_another_run(args: dict[str, Any]) -> None:
    assert content_hash(manifest(**args), None) != IDENTITY


@pytest.mark.parametrize(
    "args",
    [
        {"cleanup": shut_down(60)},
        {"active_deadline_seconds": 60},
        {"pre_running_deadline_seconds": 60},
        {"backoff_limit": 3},
        {"scheduling": suspended()},
        {"scheduling": queue("team")},
        {"labels": {"team": "a"}},
    ],
)
def test_an_edit_of_what_kuberay_reads_again_and_again_is_none(args: dict[str, Any]) -> None:
    assert content_hash(manifest(**args), None) == IDENTITY


def test_a_run_can_be_told_from_another_by_a_text() -> None:
    assert content_hash(manifest(), "2026-01-01") != IDENTITY


def test_the_identity_does_not_depend_on_how_values_are_written() -> None:
    other = copy.deepcopy(manifest())
    other["spec"] = dict(reversed(other["spec"].items()))
    other["spec"]["rayClusterSpec"]["suspend"] = None

    assert content_hash(other, None) == IDENTITY


def test_what_kueue_and_people_change_is_left_alone() -> None:
    alone = left_alone(manifest(scheduling=queue("team")))

    assert {"spec.suspend", "spec.rayClusterSpec", "spec.submitterPodTemplate", "spec.entrypoint"} <= set(alone)
    assert not {"spec.ttlSecondsAfterFinished", "spec.backoffLimit"} & set(alone)


def test_suspension_by_hand_is_not_left_alone() -> None:
    assert "spec.suspend" not in left_alone(manifest(scheduling=suspended()))


def test_suspension_in_a_queue_is_kueue_s_whatever_a_manifest_says() -> None:
    assert "spec.suspend" in left_alone(manifest(scheduling=queue("team"), extra={"suspend": True}))


def test_the_job_id_of_an_interactive_job_is_told_while_it_runs() -> None:
    def interactive(**args: Any) -> dict[str, Any]:
        return manifest(entrypoint=None, submission_mode=SubmissionMode.INTERACTIVE, **args)

    assert content_hash(interactive(job_id="a"), None) == content_hash(interactive(), None)
    assert "spec.jobId" not in left_alone(interactive(job_id="a"))
    assert content_hash(manifest(job_id="a"), None) != IDENTITY


@pytest.mark.parametrize("entrypoint", ["python count.py", pulumi.Output.from_input("python count.py")])
def test_a_name_can_carry_the_identity(run: Run, entrypoint: Any) -> None:
    args = RayJobArgs(entrypoint=entrypoint, naming=RunNaming.CONTENT_HASH)

    assert run(lambda: RayJob("counter", args)).one(RAY_JOB)["metadata"]["name"] == f"counter-{IDENTITY[:8]}"


@pytest.mark.parametrize(
    ("name", "sentence"), [("a" * 39, "may have 38 characters .* but it has 39"), (None, "needs a name to begin with")]
)
def test_a_name_that_cannot_carry_it_is_refused(name: str | None, sentence: str) -> None:
    named = manifest() | {"metadata": {"name": name}}

    with pytest.raises(ArgumentError, match=sentence):
        run_name(named, IDENTITY, RunNaming.CONTENT_HASH)
    assert run_name(named, IDENTITY, None) is named
