"""Each oracle finds its promise kept in a good run and broken in the run that breaks it."""

import pytest

from kuberay_e2e.crash.difference import EndState, facts_of
from kuberay_e2e.crash.oracles import ORACLES
from kuberay_e2e.crash.scenario import Expected, Scenario, rayjob_gone
from kuberay_e2e.crash.user import UNMAKE
from kuberay_e2e.ray.ledger import Outcome
from kuberay_e2e.ray.observed import OBSERVED
from tests.crash.recorded import (
    END_SECONDS,
    HTTP,
    INTERACTIVE,
    RETRIED,
    RULES,
    SELECTOR,
    SUSPENDED,
    TTL,
    Run,
    good,
)


@pytest.mark.parametrize("scenario", [TTL, HTTP, RETRIED], ids=lambda scenario: scenario.name)
def test_a_good_run_breaks_nothing(scenario: Scenario) -> None:
    assert good(scenario).broken() == []


def test_every_oracle_says_what_it_promises_and_what_it_saw() -> None:
    assert len({oracle.__doc__ for oracle in ORACLES}) == len(ORACLES)


def test_a_run_that_does_not_reach_its_end() -> None:
    run = good()
    run.unmet = "not within 60 s"
    assert run.broken() == ["reaches its end"]


def test_a_second_ray_cluster() -> None:
    run = good()
    run.object("RayCluster", "job-x", "ADDED")
    run.object("RayCluster", "job-x", "DELETED")
    assert run.broken() == ["one RayCluster an attempt"]


def test_a_name_that_is_minted_again() -> None:
    run = Run(HTTP)
    run.attempt(1)
    final = run.finish(run.attempt(2))
    run.remove(final, clusters=["job-1", "job-2"])
    assert {"one RayCluster an attempt", "one jobId an attempt"} <= set(run.broken())


def test_a_job_id_that_changes_within_an_attempt() -> None:
    run = Run(HTTP)
    ids = run.attempt(1)
    run.end("id-9")
    run.remove(run.finish({**ids, "jobId": "id-9"}), clusters=["job-1"])
    assert "one jobId an attempt" in run.broken()


def test_a_second_submitter_job() -> None:
    run = good()
    run.object("Job", "submitter-x", "ADDED")
    run.object("Job", "submitter-x", "DELETED")
    assert run.broken() == ["one submitter Job an attempt"]


def test_a_submission_that_ray_refuses_as_a_duplicate() -> None:
    run = good(HTTP)
    run.submit("id-1", Outcome.DUPLICATE)
    assert run.broken() == ["one submission a jobId"]


def test_an_entrypoint_that_runs_twice() -> None:
    run = good(HTTP)
    run.submit("id-1")
    assert run.broken() == ["one submission a jobId", "the entrypoint runs as often as it should"]


def test_a_success_that_is_recorded_as_a_failure() -> None:
    run = Run(HTTP)
    ids = run.attempt(1)
    run.remove(run.finish(ids, jobStatus="FAILED", jobDeploymentStatus="Failed", succeeded=0), clusters=["job-1"])
    assert run.broken() == ["ends as without a fault", "jobStatus tells what Ray says", "counters count attempts"]


def test_a_status_that_goes_backwards() -> None:
    run = Run(HTTP)
    ids = run.attempt(1)
    run.rayjob(jobDeploymentStatus="Running", jobStatus="PENDING", **ids)
    run.remove(run.finish(ids), clusters=["job-1"])
    assert run.broken() == ["status changes are legal"]


def test_a_status_that_no_enum_has() -> None:
    run = Run(HTTP)
    ids = run.attempt(1)
    run.rayjob(jobDeploymentStatus="Running", jobStatus="Failure", **ids)
    run.remove(run.finish(ids), clusters=["job-1"])
    assert run.broken() == ["status changes are legal"]


def test_a_restart_that_counts_as_a_failure() -> None:
    run = Run(HTTP)
    run.remove(run.finish(run.attempt(1), failed=1), clusters=["job-1"])
    assert run.broken() == ["counters count attempts"]


def test_an_end_time_that_is_written_again() -> None:
    run = Run(HTTP)
    ids = run.attempt(1)
    run.finish(ids)
    run.remove(run.finish(ids, endTime="2026-01-01T00:00:31Z"), clusters=["job-1"])
    assert run.broken() == ["endTime is written once"]


@pytest.mark.parametrize(("seconds", "kept"), [(0.5, False), (1.9, False), (2.1, True), (9.0, True), (11.0, False)])
def test_the_ray_cluster_goes_at_the_ttl(seconds: float, kept: bool) -> None:
    run = Run(TTL)
    final = run.finish(run.attempt(1))
    run.now = END_SECONDS + seconds
    run.object("RayCluster", "job-1", "DELETED")
    run.now += 15
    run.remove(final)
    assert run.broken() == ([] if kept else ["the TTL is kept"])


def test_a_rayjob_that_is_deleted_before_its_ttl_takes_the_ray_cluster_with_it() -> None:
    run = Run(TTL)
    final = run.finish(run.attempt(1))
    run.now = END_SECONDS + 1
    run.remove(final, clusters=["job-1"])
    assert run.broken() == []


def test_pods_that_the_garbage_collector_deletes_late_are_gone_with_their_ray_cluster() -> None:
    run = Run(RULES)
    final = run.finish(run.attempt(1))
    run.now = END_SECONDS + 6
    run.object("RayCluster", "job-1", "DELETED")
    run.now = END_SECONDS + 15
    run.object("Pod", "worker-1", "DELETED", labels={"ray.io/node-type": "worker"})
    run.remove(final)
    assert run.broken() == []


@pytest.mark.parametrize(
    ("workers", "cluster", "rayjob", "kept"),
    [(2, 6, 10, True), (10, 12, 13, False), (2, 3, 10, False), (2, 6, 7, False)],
)
def test_deletion_rules_act_each_at_its_time(workers: float, cluster: float, rayjob: float, kept: bool) -> None:
    run = Run(RULES)
    final = run.finish(run.attempt(1))
    steps = {workers: "worker", cluster: "RayCluster", rayjob: "RayJob"}
    for seconds, what in sorted(steps.items()):
        run.now = END_SECONDS + seconds
        if what == "worker":
            run.object("Pod", "worker-1", "DELETED", labels={"ray.io/node-type": "worker"})
        elif what == "RayCluster":
            run.object("RayCluster", "job-1", "DELETED")
        else:
            run.trace.add("request", incarnation=1, verb="delete", path="/p", resource="rayjobs", name="job")
            run.remove(final)
    assert run.broken() == ([] if kept else ["the TTL is kept"])


def test_a_ttl_that_passes_while_the_operator_is_down_is_kept_when_it_is_back() -> None:
    run = Run(TTL)
    final = run.finish(run.attempt(1))
    run.now = END_SECONDS + 30
    run.trace.add("operator", event="started", incarnation=2)
    run.now += 1
    run.object("RayCluster", "job-1", "DELETED")
    run.remove(final)
    assert run.broken() == []


@pytest.mark.parametrize(("took", "kept"), [(0.1, False), (4.0, True)])
def test_on_a_machine_that_is_slow_something_may_come_later(took: float, kept: bool) -> None:
    run = Run(TTL)
    asked = run.trace.add("request", incarnation=1, verb="update", path="/p", resource="rayjobs", name="job")
    run.now += took
    run.trace.add("response", of=asked.sequence, status=200, delivered=True)
    final = run.finish(run.attempt(1))
    run.now = END_SECONDS + 15
    run.object("RayCluster", "job-1", "DELETED")
    run.remove(final)
    assert run.broken() == ([] if kept else ["the TTL is kept"])


def test_an_operator_is_back_when_it_watches_rayjobs() -> None:
    run = Run(TTL)
    final = run.finish(run.attempt(1))
    run.now = END_SECONDS + 30
    run.trace.add("operator", event="started", incarnation=2)
    run.now += 12
    run.trace.add("request", incarnation=2, verb="watch", path="/p", resource="rayjobs")
    run.now += 1
    run.object("RayCluster", "job-1", "DELETED")
    run.remove(final)
    assert run.broken() == []


@pytest.mark.parametrize("stopped", [True, False])
def test_a_running_job_is_stopped_before_its_rayjob_goes(stopped: bool) -> None:
    expected = Expected("RUNNING", "Running", succeeded=0, stopped=True)
    run = Run(Scenario("delete", "Is deleted.", rayjob_gone, {"submissionMode": "HTTPMode"}, expected=expected))
    ids = run.attempt(1)
    if stopped:
        run.stop("id-1")
    run.remove({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", **ids}, clusters=["job-1"])
    assert run.broken() == ([] if stopped else ["a running job is stopped before the finalizer goes"])


def test_a_job_that_is_stopped_after_the_finalizer_was_removed() -> None:
    expected = Expected("RUNNING", "Running", succeeded=0, stopped=True)
    run = Run(Scenario("delete", "Is deleted.", rayjob_gone, {"submissionMode": "HTTPMode"}, expected=expected))
    ids = run.attempt(1)
    write = "update:RayJob:-ray.io/rayjob-finalizer#1"
    run.trace.add("request", incarnation=1, verb="update", resource="rayjobs", name="job", path="/p", write=write)
    run.now += 0.001
    run.stop("id-1")
    run.remove({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", **ids}, clusters=["job-1"])
    assert run.broken() == ["a running job is stopped before the finalizer goes"]


def test_an_end_that_is_another_than_without_a_fault() -> None:
    end = EndState.common([facts_of(good(HTTP).trace.events())])
    assert good(HTTP).broken(end) == []
    run = Run(HTTP)
    final = run.finish(run.attempt(1))
    run.object("Service", "job-x2bcd", "ADDED")
    run.object("Service", "job-x2bcd", "DELETED", owner="job")
    run.object("Service", "job-q9wzx", "ADDED")
    run.remove(final, clusters=["job-1"])
    run.object("Service", "job-q9wzx", "DELETED")
    assert run.broken(end) == ["end state is that without a fault"]


def test_a_run_that_ends_elsewhere_is_not_compared() -> None:
    end = EndState({"RayJob other": ("there",)})
    assert good(HTTP).broken(end) == ["end state is that without a fault"]
    assert good(HTTP).broken(end, "http/create:Pod#1@committed+upgrade") == []
    assert "end state is that without a fault" not in good(HTTP).broken(end, "http/create:Pod#1@committed+delete")


def test_a_write_of_a_dead_operator_that_was_forwarded() -> None:
    run = good()
    run.trace.add("operator", event="killed", incarnation=1)
    run.trace.add("request", incarnation=1, verb="create", path="/p", write="create:Job#1", refused="it is dead")
    assert run.broken() == []
    run.trace.add("request", incarnation=1, verb="create", path="/p", write="create:Job#1")
    assert run.broken() == ["no write by a dead operator"]


def test_an_object_that_is_left() -> None:
    run = Run(HTTP)
    run.remove(run.finish(run.attempt(1)))
    assert run.broken() == ["nothing is left"]


def test_a_ray_cluster_that_goes_although_nothing_asks_for_it() -> None:
    run = Run(HTTP)
    final = run.finish(run.attempt(1))
    run.now += 2
    run.object("RayCluster", "job-1", "DELETED")
    run.now += 5
    run.remove(final)
    assert run.broken() == ["what is to stay stays"]


def test_a_rayjob_that_kuberay_deletes_although_nothing_asks_for_it() -> None:
    run = good(HTTP)
    run.trace.add("request", incarnation=1, verb="delete", path="/p", resource="rayjobs", name="job")
    assert run.broken() == ["what is to stay stays"]


@pytest.mark.parametrize("by_user", [True, False])
def test_a_selected_ray_cluster_goes_when_its_user_deletes_it(by_user: bool) -> None:
    run = Run(SELECTOR)
    run.object("RayCluster", "shared", "ADDED", owners=[])
    ids = {"rayClusterName": "shared", "jobId": "id-1"}
    run.rayjob(jobDeploymentStatus="Initializing", **ids)
    run.rayjob(jobDeploymentStatus="Running", **ids)
    run.submit("id-1")
    run.end("id-1")
    run.remove(run.finish(ids))
    if by_user:
        run.trace.add("user", event=UNMAKE)
    run.object("RayCluster", "shared", "DELETED", owners=[])
    assert run.broken() == ([] if by_user else ["what is to stay stays"])


@pytest.mark.parametrize("leaks", [False, True])
def test_a_suspended_rayjob_has_no_ray_cluster(leaks: bool) -> None:
    run = Run(SUSPENDED)
    first = run.attempt(1, ends="LOST")
    run.rayjob(jobDeploymentStatus="Suspending", jobStatus="RUNNING", **first)
    if not leaks:
        run.object("RayCluster", "job-1", "DELETED")
    run.rayjob(jobDeploymentStatus="Suspended")
    run.now += 1
    run.rayjob()
    if leaks:
        run.object("RayCluster", "job-1", "DELETED")
    run.remove(run.finish(run.attempt(2)), clusters=["job-2"])
    assert run.broken() == (["nothing runs while it is Suspended"] if leaks else [])


def test_a_job_that_the_operator_submits_although_its_user_should() -> None:
    run = good(INTERACTIVE)
    assert run.broken() == []
    run.submit("id-2", Outcome.REFUSED, by="operator")
    assert run.broken() == ["submitted by whom its mode says"]


def test_a_real_ray_does_not_tell_who_submitted_a_job_that_it_took() -> None:
    run = good(INTERACTIVE)
    run.submit("id-2", Outcome.REFUSED, by=OBSERVED)
    assert run.broken() == []
