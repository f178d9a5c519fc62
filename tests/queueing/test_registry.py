"""Which scenarios there are, how they are chosen, and that their quotas say what they mean."""

import pytest

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Position
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.queueing.queues import BATCH, HIGH, LOW, PRIORITIES, URGENT, Quota, configuration
from kuberay_e2e.queueing.registry import POSITIONS, SCENARIOS, select
from kuberay_e2e.queueing.workloads import SCRIPTS, job_millicpus, rayjob
from kuberay_e2e.session import watched_writes
from kuberay_model import rules
from pulumi_kuberay.quantities import quantity


def test_by_default_one_crash_of_each_kind_runs() -> None:
    names = [scenario.name for scenario in select()]
    assert [name for name in names if name.startswith("crash")] == [
        "crash-in-suspension",
        "crash-in-admission",
        "crash-in-preemption",
    ]


def test_patterns_choose_the_others() -> None:
    chosen = select(["crash-in-admission/*", "gang"])
    assert {scenario.name for scenario in chosen if not scenario.kill_at} == {"gang"}
    assert {parse(scenario.kill_at).position for scenario in chosen if scenario.kill_at} == set(POSITIONS)


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"got 'preemptoin'.* There are preemption, suspension"):
        select(["preemptoin"])


def test_on_real_pods_nothing_is_played_twice_unless_it_is_named() -> None:
    usual, real = ([scenario.name for scenario in select(real=real)] for real in (False, True))
    assert [name for name in usual if name not in real] == ["suspension", "admission"]
    assert {f"crash-in-{name}" for name in ("suspension", "admission")} <= set(real)
    assert [scenario.name for scenario in select(["admission"], real=True)] == ["admission"]


@pytest.mark.parametrize("name", [name for name, scenario in SCENARIOS.items() if scenario.kill_at])
def test_every_crash_is_at_a_write_that_can_be_named(name: str) -> None:
    assert parse(SCENARIOS[name].kill_at)
    assert SCENARIOS[name].exclusive, "others would lose their operator too"


def test_the_crashes_of_the_default_run_can_be_seen_from_outside_a_pod() -> None:
    for scenario in select():
        if scenario.kill_at:
            watched_writes.check(parse(f"{scenario.kill_at}@{Position.AFTER}"))


def test_every_scenario_tells_what_happens_and_what_is_promised() -> None:
    for scenario in SCENARIOS.values():
        for text in (scenario.doc, scenario.expected):
            assert text[0].isupper() and text.endswith("."), text


def test_the_cpu_of_a_job_is_what_its_pods_ask_for() -> None:
    spec = rayjob("team", "job", queue=BATCH, workers=2)["spec"]
    [workers] = spec["rayClusterSpec"]["workerGroupSpecs"]
    counted = [(spec["rayClusterSpec"]["headGroupSpec"]["template"], 1), (workers["template"], workers["replicas"])]
    counted.append((spec["submitterPodTemplate"], 1))
    asked = sum(
        number * (quantity(container["resources"]["requests"]["cpu"]) or 0)
        for template, number in counted
        for container in template["spec"]["containers"]
    )
    assert asked * 1000 == job_millicpus(2)


def test_quotas_have_room_for_one_job_and_not_for_two() -> None:
    for scenario in SCENARIOS.values():
        workers = {"gang": 2, "preemption": 1}.get(scenario.name.partition("/")[0].removeprefix("crash-in-"), 0)
        assert job_millicpus(workers) <= scenario.quota.millicpus < 2 * job_millicpus(workers), scenario.name


@pytest.mark.parametrize("entrypoint", SCRIPTS)
def test_kuberay_takes_every_job(entrypoint: str) -> None:
    job = rayjob("team", "job", queue=BATCH, priority=HIGH, entrypoint=entrypoint)
    assert rules.refusal(job) is None


def test_the_urgent_class_has_the_higher_priority() -> None:
    assert PRIORITIES[HIGH] > PRIORITIES[LOW]


def test_two_local_queues_share_the_quota_of_a_namespace() -> None:
    config = configuration({"team": Quota(300, preempts=True), "other": Quota(500)})
    assert {name: queue["clusterQueue"] for name, queue in config["localQueues"].items()} == {
        f"{namespace}-{queue}": namespace for namespace in ("team", "other") for queue in (BATCH, URGENT)
    }
    assert config["clusterQueues"]["team"]["preemption"] == {"withinClusterQueue": "LowerPriority"}
    assert "preemption" not in config["clusterQueues"]["other"]
    [group] = config["clusterQueues"]["other"]["resourceGroups"]
    assert {"name": "cpu", "nominalQuota": "500m"} in group["flavors"][0]["resources"]
