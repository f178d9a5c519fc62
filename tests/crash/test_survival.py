"""Oracles of the operators, and of a run whose RayJob is deleted while none is there."""

import pytest

from kuberay_e2e.crash.cutshort import no_more_than_without_a_fault, stopped_if_it_runs
from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.leadership import ENDED
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.survival import ends_only_when_killed, only_the_leader_writes
from tests.crash.recorded import HTTP, Run, good

DELETION = "2026-01-01T00:00:45Z"


def evidence(run: Run) -> Evidence:
    recorded = Recorded(
        Point(run.scenario.name), "job", tuple(run.trace.events()), run.ledger.entries, run.unmet, True, 1.0
    )
    return Evidence.of(run.scenario, recorded)


def test_an_operator_that_is_killed_does_not_end_by_itself() -> None:
    run = good()
    run.trace.add("operator", event="killed", incarnation=1)
    run.trace.add("operator", event="started", incarnation=2)
    assert ends_only_when_killed(evidence(run)).held
    run.trace.add("operator", event=ENDED, incarnation=2, code=2)
    assert ends_only_when_killed(evidence(run)).seen == "incarnation 2: 2"


def test_a_standby_that_writes_breaks_a_promise() -> None:
    run = good()
    assert only_the_leader_writes(evidence(run)).held
    lease = run.trace.add("request", incarnation=1, verb="create", resource="leases", path="/l")
    run.trace.add("response", of=lease.sequence, status=201, delivered=True)
    run.trace.add("request", incarnation=2, verb="create", resource="jobs", path="/j", write="create:Job#1")
    assert "create:Job#1 by 2" in only_the_leader_writes(evidence(run)).seen


def deleted_while_running(*, stopped: bool, ended: bool = False) -> Run:
    run = Run(HTTP)
    ids = {"rayClusterName": "job-1", "jobId": "id-1", "jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}
    run.object("RayCluster", "job-1", "ADDED")
    run.submit("id-1")
    run.rayjob(**ids)
    run.now += 1
    run.rayjob(deletion=DELETION, **ids)
    run.now += 1
    if ended:
        run.end("id-1")
    if stopped:
        run.stop("id-1")
    return run


@pytest.mark.parametrize(
    ("stopped", "ended", "held"), [(True, False, True), (False, False, False), (False, True, True)]
)
def test_a_job_that_runs_is_stopped(stopped: bool, ended: bool, held: bool) -> None:
    assert stopped_if_it_runs(evidence(deleted_while_running(stopped=stopped, ended=ended))).held is held


def test_a_job_that_no_status_tells_of_need_not_be_stopped() -> None:
    run = Run(HTTP)
    run.rayjob(deletion=DELETION, jobDeploymentStatus="Initializing", rayClusterName="job-1", jobId="id-1")
    assert stopped_if_it_runs(evidence(run)).held


def test_what_is_cut_short_makes_no_more_than_the_whole() -> None:
    run = deleted_while_running(stopped=True)
    assert no_more_than_without_a_fault(evidence(run)).held
    run.object("RayCluster", "job-2", "ADDED")
    found = no_more_than_without_a_fault(evidence(run))
    assert (found.held, found.seen) == (False, "2 RayClusters, 0 submitter Jobs, 1 starts")
