"""A RayJob that KubeRay deletes itself is not run again, because its run is recorded."""

from typing import Any

import pulumi
import pytest
from recording_engine import Engine, Run

from pulumi_kuberay import (
    ArgumentError,
    DeletionPolicy,
    DeletionRule,
    FinishedJobStatus,
    RayJob,
    RayJobArgs,
    cluster_reader,
    deletion_rules,
    legacy,
    ray_job,
    run_record,
)
from pulumi_kuberay.ray_job_manifest import questionable, ray_job_manifest
from pulumi_kuberay.run_identity import content_hash
from pulumi_kuberay.run_record import RunRecord, recorded

RAY_JOB, CONFIG_MAP = "kubernetes:ray.io/v1:RayJob", "kubernetes:core/v1:ConfigMap"
DELETE_SELF = deletion_rules(DeletionRule(policy=DeletionPolicy.DELETE_SELF, job_status=FinishedJobStatus.SUCCEEDED))


def args(**more: Any) -> RayJobArgs:
    fields = {"entrypoint": "python count.py", "namespace": "team", "cleanup": DELETE_SELF, "record_run": True}
    return RayJobArgs(**{**fields, **more})


IDENTITY = content_hash(ray_job_manifest("counter", args()), None)


def declared(run: Run, monkeypatch: pytest.MonkeyPatch, known: RunRecord, **more: Any) -> Engine:
    monkeypatch.setattr(ray_job, "recorded", lambda _: known)
    return run(lambda: RayJob("counter", args(**more)))


@pytest.mark.parametrize(
    "known",
    [
        RunRecord(identity=None, present=False),
        RunRecord(identity=IDENTITY, present=True),
        RunRecord(identity="another", present=False),
    ],
)
def test_a_run_that_is_new_or_under_way_is_declared_and_recorded(
    run: Run, monkeypatch: pytest.MonkeyPatch, known: RunRecord
) -> None:
    engine = declared(run, monkeypatch, known)

    assert engine.one(RAY_JOB)["metadata"]["name"] == "counter"
    record = engine.one(CONFIG_MAP)
    assert record["metadata"] == {"name": "counter-run", "namespace": "team"}
    assert record["data"] == {"identity": IDENTITY}


def test_a_run_that_is_over_is_only_recorded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = declared(run, monkeypatch, RunRecord(identity=IDENTITY, present=False))

    assert engine.inputs(RAY_JOB) == []
    assert engine.one(CONFIG_MAP)["data"] == {"identity": IDENTITY}


def test_another_run_of_the_same_job_is_declared(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = declared(run, monkeypatch, RunRecord(identity=IDENTITY, present=False), job_id="2")

    assert engine.one(RAY_JOB)["metadata"]["name"] == "counter"


@pytest.mark.parametrize("cleanup", [DELETE_SELF, legacy(DeletionPolicy.DELETE_SELF, DeletionPolicy.DELETE_CLUSTER)])
def test_a_job_that_deletes_itself_must_be_recorded(cleanup: Any) -> None:
    with pytest.raises(ArgumentError, match="next update would run it again; set record_run"):
        ray_job_manifest("counter", args(cleanup=cleanup, record_run=None))


def test_a_whole_manifest_that_deletes_itself_is_warned_about() -> None:
    manifest = ray_job_manifest("counter", args())

    assert ray_job_manifest("counter", RayJobArgs(manifest=manifest)) == manifest
    [sentence] = questionable(manifest, record_run=False)
    assert "after a refresh the next update runs it again" in sentence
    assert questionable(manifest, record_run=True) == []


def test_the_words_of_kuberay_1_5_are_warned_about() -> None:
    cleanup = legacy(DeletionPolicy.DELETE_WORKERS, DeletionPolicy.DELETE_CLUSTER)

    [sentence] = questionable(ray_job_manifest("counter", args(cleanup=cleanup)), record_run=True)
    assert "has announced to remove; use deletion rules" in sentence


@pytest.mark.parametrize("more", [{"namespace": None}, {"entrypoint": pulumi.Output.from_input("python count.py")}])
def test_a_record_needs_to_know_the_job_whole(more: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="its namespace must be set and every value be known"):
        recorded(ray_job_manifest("counter", args(**more)))


def test_a_cluster_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreadable(*_: str) -> None:
        raise cluster_reader.ClusterUnreadableError("the API server answered 403.")

    monkeypatch.setattr(run_record, "read", unreadable)
    with pytest.raises(ArgumentError, match=r"its record could not be read: the API server answered 403\."):
        recorded(ray_job_manifest("counter", args()))
