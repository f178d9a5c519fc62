"""Each invariant holds on a good run and is broken by the one thing it is there to find."""

from collections.abc import Callable

import pytest

from kuberay_e2e.lifecycle import invariants
from kuberay_e2e.lifecycle.invariants import Check
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.ray.ledger import Outcome
from tests.lifecycle.recorded import JOB_ID, Recorder, good_run


def judge(check: Check, run: Recorder) -> tuple[bool, str]:
    found = check(run.recording(), run.ledger, True)
    return found.held, found.seen


@pytest.mark.parametrize("check", invariants.INVARIANTS)
def test_all_hold_on_a_good_run(check: Check) -> None:
    held, seen = judge(check, good_run())
    assert held, seen


def second_ray_cluster(run: Recorder) -> None:
    run.object("RayCluster", "other", "DELETED", "job")


def second_submitter(run: Recorder) -> None:
    run.object("Job", "other", "DELETED", "job")


def other_name(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED", rayClusterName="counter-other")


def other_job_id(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED", jobId="counter-other")


def second_submission(run: Recorder) -> None:
    run.submit()


def refused_submission(run: Recorder) -> None:
    run.submit(outcome=Outcome.DUPLICATE)


def counted_as_failure(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED", succeeded=1, failed=1)


def back_to_running(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Running", jobStatus="SUCCEEDED", jobId=JOB_ID)


def job_status_backwards(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Complete", jobStatus="RUNNING", jobId=JOB_ID)


def job_status_off_enum(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Complete", jobStatus="Failure", jobId=JOB_ID)


def end_time_again(run: Recorder) -> None:
    run.rayjob(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED", endTime="2026-01-01T00:01:00Z")


def left_behind(run: Recorder) -> None:
    run.object("Service", "head-svc", "ADDED", "cluster")


BROKEN: list[tuple[Check, Callable[[Recorder], None]]] = [
    (invariants.one_ray_cluster, second_ray_cluster),
    (invariants.one_submitter_job, second_submitter),
    (invariants.same_ray_cluster_name, other_name),
    (invariants.same_job_id, other_job_id),
    (invariants.one_submission, second_submission),
    (invariants.one_submission, refused_submission),
    (invariants.counters, counted_as_failure),
    (invariants.legal_transitions, back_to_running),
    (invariants.legal_transitions, job_status_backwards),
    (invariants.legal_transitions, job_status_off_enum),
    (invariants.end_time_stays, end_time_again),
    (invariants.nothing_left, left_behind),
]


@pytest.mark.parametrize(("check", "damage"), BROKEN, ids=[damage.__name__ for _, damage in BROKEN])
def test_each_is_broken_by_what_it_is_there_to_find(check: Check, damage: Callable[[Recorder], None]) -> None:
    run = good_run()
    damage(run)
    held, seen = judge(check, run)
    assert not held, seen


def test_http_mode_has_no_submitter_job() -> None:
    run = good_run()
    assert not invariants.one_submitter_job(run.recording(), run.ledger, False).held


@pytest.mark.parametrize(("seconds", "held"), [(5.0, False), (10.0, True), (12.0, True), (40.0, False)])
def test_ttl_counts_from_end_time(seconds: float, held: bool) -> None:
    assert invariants.ttl_kept(good_run(ttl=seconds).recording(), 10).held is held


def test_ttl_without_an_end_is_told() -> None:
    run = Recorder()
    run.rayjob(jobDeploymentStatus="Running")
    assert "expected an endTime" in invariants.ttl_kept(run.recording(), 10).seen


def test_rayjob_and_submitter_outlive_the_ray_cluster() -> None:
    assert invariants.kept_until_deleted(good_run().recording(), True).held


def test_a_submitter_that_goes_too_early_is_found() -> None:
    run = Recorder()
    run.object("Job", "submitter", "ADDED", "job")
    run.object("RayCluster", "cluster", "DELETED", "job")
    run.object("Job", "submitter", "DELETED", "job")
    run.object("RayJob", "job", deletion="2026-01-01T00:00:45Z", status={})
    assert not invariants.kept_until_deleted(run.recording(), True).held


def test_a_write_that_a_dead_operator_got_through_is_found() -> None:
    run = Recorder()
    run.trace.add("operator", event="killed", incarnation=1)
    run.trace.add("request", incarnation=1, path="/late", refused="the incarnation is dead")
    whole = Recording("", [], [], run.events())
    assert invariants.no_write_after_death(whole, run.ledger, True).held
    run.trace.add("request", incarnation=1, path="/later", write="create:Job#1")
    found = invariants.no_write_after_death(Recording("", [], [], run.events()), run.ledger, True)
    assert (found.held, found.seen) == (False, "create:Job#1")


def test_an_operator_that_ended_by_itself() -> None:
    run = good_run()
    for event in ("started", "killed", "started"):
        run.trace.add("operator", event=event, incarnation=1, pod="operator-1", restarts=0)
    assert invariants.no_unasked_restart(Recording("", [], [], run.events()), run.ledger, True).held
    run.trace.add("operator", event="ended by itself", incarnation=2, pod="operator-1", restarts=1)
    found = invariants.no_unasked_restart(Recording("", [], [], run.events()), run.ledger, True)
    assert not found.held
    assert found.seen == "expected none, saw operator-1 (restart 1)"
