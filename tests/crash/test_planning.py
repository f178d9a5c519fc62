"""What is learned from runs without a fault, and what is planned from it."""

from collections.abc import Sequence

import pytest

from kuberay_e2e.crash.catalogue import SCENARIOS, select
from kuberay_e2e.crash.learning import Learned, learn
from kuberay_e2e.crash.planning import ERRORS, KILLS, plan, shard
from kuberay_e2e.crash.point import parse
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import WriteSelector
from kuberay_e2e.gateway.faults import parse as parse_fault
from kuberay_e2e.trace import Event, Trace

FIRST = [("create:Service#1", "job-*-head-svc", 201), ("create:Service#1", "job-head-svc", 201)]


def run(writes: Sequence[tuple[str, str, int]]) -> list[Event]:
    trace = Trace()
    for write, name, status in writes:
        request = trace.add("request", write=write, write_name=name)
        trace.add("response", of=request.sequence, status=status)
    return trace.events()


def write(text: str) -> WriteSelector:
    return parse_fault(text).write


def learned(*writes: str) -> Learned:
    return Learned("k8sjob", 3, tuple(map(write, writes)), {})


def test_writes_of_one_kind_are_told_apart_by_name() -> None:
    found = learn("k8sjob", [run(FIRST), run(FIRST)])
    assert [str(one) for one in found.writes] == ["create:Service~job-*-head-svc#1", "create:Service~job-head-svc#1"]
    assert found.unstable == {}


def test_occurrences_are_counted_in_each_run() -> None:
    twice = [("create:Pod#1", "job-*", 201), ("create:Pod#2", "job-*", 201)]
    found = learn("k8sjob", [run(twice), run(twice)])
    assert [str(one) for one in found.writes] == ["create:Pod~job-*#1", "create:Pod~job-*#2"]


def test_a_write_of_some_runs_only_is_left_out_with_the_reason() -> None:
    found = learn("k8sjob", [run(FIRST), run(FIRST[:1]), run(FIRST)])
    assert [str(one) for one in found.writes] == ["create:Service~job-*-head-svc#1"]
    assert found.unstable == {"create:Service~job-head-svc#1": "made in 2 of 3 runs"}


def test_a_write_that_was_refused_without_a_fault_is_left_out() -> None:
    stale = [("update:RayJob/status:jobStatus=RUNNING#1", "job", 409)]
    found = learn("k8sjob", [run(stale), run(stale)])
    assert found.writes == ()
    assert list(found.unstable.values()) == ["refused by the API server in a run without a fault"]


def test_every_write_is_run_at_every_position() -> None:
    planned = plan(learned("create:Job", "delete:RayCluster"), everything=True)
    assert len(planned.points) == 2 * len(KILLS)
    assert planned.equivalent == ()


def test_a_kill_after_the_response_is_equivalent_to_one_before_it() -> None:
    planned = plan(learned("create:Job"))
    assert [str(point.position) for point in planned.points] == ["before", "committed", "lost"]
    [(left_out, same)] = planned.equivalent
    assert (str(left_out), str(same)) == ("k8sjob/create:Job#1@after", "k8sjob/create:Job#1@committed")


def test_no_point_is_planned_that_cannot_exist() -> None:
    creation = plan(learned("create:Job"), ERRORS)
    call = plan(learned("submit:RayJobs"), ERRORS)
    assert [str(point.position) for point in creation.points] == ["429", "500", "504", "stale"]
    assert [str(point.position) for point in call.points] == ["429", "500", "504"]


def test_shards_are_the_whole_plan_and_share_nothing() -> None:
    points = plan(learned("create:Job", "create:RayCluster", "create:Pod")).points
    parts = [shard(points, part, 4) for part in (1, 2, 3, 4)]
    assert sorted(str(point) for part in parts for point in part) == sorted(map(str, points))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_every_scenario_can_be_named() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)
    for scenario in SCENARIOS:
        assert select([scenario.name]) == (scenario,)
        assert parse(scenario.name).scenario == scenario.name


def test_an_unknown_scenario_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"no scenario called 'k8s'; the scenarios are k8sjob, http"):
        select(["k8s"])
