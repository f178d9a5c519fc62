"""What is learned from runs without a fault, and what is planned from it."""

from collections.abc import Sequence

import pytest

from kuberay_e2e.crash.catalogue import BY_NAME, SCENARIOS, select
from kuberay_e2e.crash.learning import Learned, learn
from kuberay_e2e.crash.planning import ERRORS, KILLS, Plan, Subject, plan, shard, upgrading
from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.timers import timers
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Position, WriteSelector
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


def test_a_write_that_is_always_refused_without_a_fault_is_left_out() -> None:
    stale, stored = ([("update:RayJob/status:jobStatus=RUNNING#1", "job", status)] for status in (409, 200))
    found = learn("k8sjob", [run(stale), run(stale)])
    assert found.writes == ()
    assert list(found.unstable.values()) == ["refused by the API server in every run without a fault"]
    assert len(learn("k8sjob", [run(stale), run(stored)]).writes) == 1


def test_what_comes_with_a_state_or_before_it_as_it_happens_is_no_part_of_its_write() -> None:
    status = "update:RayJob/status:"
    ended = f"{status}jobDeploymentStatus=Failed,reason=AppFailed"
    at_once = [(f"{status}jobDeploymentStatus=Failed,jobStatus=FAILED,reason=AppFailed#1", "job", 200)]
    one_by_one = [(f"{status}jobStatus=FAILED#1", "job", 200), (f"{ended}#1", "job", 200)]
    found = learn("app-fails", [run(at_once), run(one_by_one)])
    assert [str(one) for one in found.writes] == [f"update:RayJob/status~job:{ended.removeprefix(status)}#1"]
    assert list(found.unstable) == ["update:RayJob/status~job:jobStatus=FAILED#1"]


def subject(name: str, *writes: str, before: Sequence[str] | None = None) -> Subject:
    older = None if before is None else Learned(name, 2, tuple(map(write, before)), {})
    return Subject(BY_NAME[name], Learned(name, 3, tuple(map(write, writes)), {}), older)


def texts(planned: Plan) -> list[str]:
    return [str(point) for point in planned.points]


def test_every_write_is_run_at_every_position() -> None:
    planned = plan([subject("k8sjob", "create:Job", "delete:RayCluster")], KILLS, everything=True)
    assert len(planned.points) == 2 * len(KILLS)
    assert planned.equivalent == ()


def test_a_kill_after_the_response_is_equivalent_to_one_before_it() -> None:
    planned = plan([subject("k8sjob", "create:Job")], KILLS)
    assert [str(point.position) for point in planned.points] == ["before", "committed", "lost"]
    [left_out] = planned.equivalent
    assert (str(left_out.point), str(left_out.same)) == ("k8sjob/create:Job#1@after", "k8sjob/create:Job#1@committed")
    assert "nobody has used the response" in left_out.reason


def test_what_stands_for_another_point_has_to_be_run() -> None:
    planned = plan([subject("k8sjob", "create:Job")], [Position.AFTER, Position.TIMEOUT])
    assert texts(planned) == ["k8sjob/create:Job#1@after", "k8sjob/create:Job#1@504"]


def test_no_point_is_planned_that_cannot_exist() -> None:
    creation = plan([subject("k8sjob", "create:Job")], ERRORS)
    call = plan([subject("http", "submit:RayJobs")], ERRORS)
    assert [str(point.position) for point in creation.points] == ["429", "500", "504", "stale"]
    assert [str(point.position) for point in call.points] == ["429", "500", "504"]


def test_the_answers_to_looks_at_a_job_are_disturbed_where_it_runs_to_completion() -> None:
    looks = [name for name in texts(plan([subject("http"), subject("stopped")])) if "look:" in name]
    assert looks == [
        f"http/look:RayJobs#{number}@{position}" for number in (1, 2, 3) for position in ("lost", "500", "504")
    ]
    assert not any("look:" in name for name in texts(plan([subject("http")], KILLS)))


STARTED, OVER = (f"update:RayJob/status:jobDeploymentStatus={state}" for state in ("Initializing", "Failed"))


@pytest.mark.parametrize("position", [Position.BEFORE, Position.LOST, Position.FAILED, Position.STALE])
def test_positions_are_run_where_the_state_is_new(position: Position) -> None:
    planned = plan(
        [subject("http", "create:Pod", STARTED), subject("app-fails", "create:Pod", STARTED, OVER)], [position]
    )
    assert texts(planned) == [
        f"http/create:Pod#1@{position}",
        f"http/{STARTED}#1@{position}",
        f"app-fails/{OVER}#1@{position}",
    ]
    assert {str(entry.same).partition("/")[0] for entry in planned.equivalent} == {"http"}


def test_a_kill_after_the_write_was_stored_is_run_at_every_write() -> None:
    planned = plan([subject("http", "create:Pod"), subject("app-fails", "create:Pod")], [Position.COMMITTED])
    assert texts(planned) == ["http/create:Pod#1@committed", "app-fails/create:Pod#1@committed"]


def test_the_same_write_in_another_state_is_no_equivalent() -> None:
    planned = plan([subject("http", "create:Pod"), subject("in-time", STARTED, "create:Pod")], [Position.STALE])
    assert texts(planned) == ["http/create:Pod#1@stale", f"in-time/{STARTED}#1@stale", "in-time/create:Pod#1@stale"]


def test_the_same_write_in_another_submission_mode_is_no_equivalent() -> None:
    planned = plan([subject("http", "create:Pod"), subject("k8sjob", "create:Pod")], [Position.FAILED])
    assert len(planned.points) == 2


def test_the_next_attempt_is_as_the_first() -> None:
    again = ("create:Pod", STARTED, OVER, "create:Pod#2", f"{STARTED}#2", f"{OVER}#2")
    planned = plan([subject("app-retried", *again)], [Position.FAILED])
    assert texts(planned) == [
        "app-retried/create:Pod#1@500",
        f"app-retried/{STARTED}#1@500",
        f"app-retried/{OVER}#1@500",
        "app-retried/create:Pod#2@500",
        f"app-retried/{STARTED}#2@500",
    ]
    assert str(planned.equivalent[0].same) == f"app-retried/{OVER}#1@500"


def test_an_equivalent_is_told_by_the_point_that_is_run() -> None:
    change = "update:RayJob/status:jobDeploymentStatus=Initializing"
    planned = plan([subject("http", change), subject("in-time", change)], [Position.CONFLICT, Position.FAILED])
    assert texts(planned) == [f"http/{change}#1@500"]
    assert {str(entry.same) for entry in planned.equivalent} == {f"http/{change}#1@500"}


def test_a_throttled_request_is_run_once_for_each_kind_of_write() -> None:
    planned = plan([subject("http", "create:Pod", "create:Pod#2", "create:Service")], [Position.THROTTLED])
    assert texts(planned) == ["http/create:Pod#1@429", "http/create:Service#1@429"]


def variants(planned: Plan) -> list[str]:
    return [text for text in texts(planned) if "+" in text.partition("@")[2]]


def test_the_operator_stays_away_across_each_timer() -> None:
    worker, submitted = "create:Pod~job-*-workers-worker-*", "submit:RayJobs"
    running = "update:RayJob/status~job:jobDeploymentStatus=Running"
    over = "update:RayJob/status~job:jobDeploymentStatus=Complete"
    writes = (worker, running, submitted, over)
    planned = plan([subject("k8sjob", *writes), subject("in-time", *writes), subject("rules", *writes)])
    assert [text for text in variants(planned) if "down" in text] == [
        f"k8sjob/{running}#1@committed+down=44",
        f"in-time/{worker}#1@committed+down=25",
        f"in-time/{submitted}#1@committed+down=45",
        f"rules/{over}#1@committed+down=14",
    ]


def test_variants_are_run_where_the_state_of_a_rayjob_changes() -> None:
    planned = plan([subject("k8sjob", "create:Pod", "create:Job", before=["create:Job"])])
    assert variants(planned) == [
        f"k8sjob/create:Job#1@committed+{name}" for name in ("again", "delete", "failover", "upgrade")
    ]


def test_a_variant_is_run_in_the_first_scenario_of_a_mode() -> None:
    planned = plan([subject("http", "create:RayCluster"), subject("ttl", "create:RayCluster", "submit:RayJobs")])
    assert {text.partition("/")[0] for text in variants(planned) if "create:RayCluster" in text} == {"http", "ttl"}
    planned = plan([subject("http", "create:RayCluster"), subject("app-fails", "create:RayCluster")])
    assert {text.partition("/")[0] for text in variants(planned)} == {"http"}


def test_an_upgrade_needs_a_write_that_both_releases_make() -> None:
    both = ["create:Job", "create:RayCluster"]
    assert not any("upgrade" in text for text in texts(plan([subject("k8sjob", *both)])))
    planned = plan([subject("k8sjob", *both, before=["create:Job"])])
    assert [text for text in texts(planned) if "upgrade" in text] == ["k8sjob/create:Job#1@committed+upgrade"]
    assert upgrading([subject("k8sjob", *both), subject("app-fails-k8sjob", *both)]) == ["k8sjob"]


def test_everything_is_every_variant_at_every_write_that_has_a_next_one() -> None:
    release = "update:RayJob:-ray.io/rayjob-finalizer"
    planned = plan([subject("k8sjob", "create:Pod", release, before=["create:Pod"])], everything=True)
    assert len(planned.points) == 4 + 4 + 4 + 5 + 4 + 1 + 6
    assert variants(planned)[-1] == f"k8sjob/{release}#1@committed+failover"
    assert planned.equivalent == ()


def test_the_plan_of_chosen_positions_has_no_variants() -> None:
    assert variants(plan([subject("k8sjob", "create:Job", before=["create:Job"])], KILLS)) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("k8sjob", {"end of the submitter": 44}),
        ("sidecar", {"end of the submitter": 44}),
        ("http", {}),
        ("ttl", {"end of the submitter": 41, "ttlSecondsAfterFinished": 7}),
        ("rules", {"deletionRules": 14}),
        ("prerunning-deadline", {"preRunningDeadlineSeconds": 17, "ttlSecondsAfterFinished": 5}),
    ],
)
def test_timers_are_read_from_the_rayjob(name: str, expected: dict[str, float]) -> None:
    assert {timer.name: timer.away for timer in timers(BY_NAME[name])} == expected


def test_shards_are_the_whole_plan_and_share_nothing() -> None:
    points = plan([subject("k8sjob", "create:Job", "create:RayCluster", "create:Pod")]).points
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
