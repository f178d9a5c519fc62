"""What simulated pods show of the operator is compared with what real ones show."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kuberay_e2e.crash import catalogue, on_kind
from kuberay_e2e.crash.fidelity import Aspect, Explanation, compare, explanations, markdown, states
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.on_kind import subset
from kuberay_e2e.crash.point import parse
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway.faults import parse as parse_fault
from kuberay_e2e.verdicts import Finding

VERSION = "1.6.2"
RUN = "k8sjob/create:Job#1@committed"
ENDS = ("Initializing ", "Running RUNNING", "Complete SUCCEEDED")


def sweep(
    path: Path, *, writes: Sequence[str] = ("create:Job",), states: Sequence[str] = ENDS, held: bool = True
) -> SweepFolder:
    folder = SweepFolder(path)
    folder.keep_learned(VERSION, {"k8sjob": Learned("k8sjob", 3, tuple(parse_fault(w).write for w in writes), {})})
    files = path / "source"
    files.mkdir(parents=True)
    lines = []
    for number, state in enumerate(states):
        deployment, _, job = state.partition(" ")
        status = {"jobDeploymentStatus": deployment, "jobStatus": job}
        known = {"sequence": number, "time": float(number), "kind": "object", "object_kind": "RayJob"}
        lines.append(json.dumps({**known, "status": status}))
    (files / "trace.jsonl").write_text("\n".join(lines))
    point = parse(RUN)
    findings = (Finding("one submission a jobId", held, "1 accepted" if held else "2 accepted"),)
    folder.keep(Result(point, VERSION, 9.0, findings, folder=folder.keep_files(point, files)))
    return folder


def test_sweeps_that_show_the_same_have_no_difference(tmp_path: Path) -> None:
    found = compare(sweep(tmp_path / "a"), sweep(tmp_path / "b"), VERSION)
    assert (found.scenarios, found.runs, found.differences) == (("k8sjob",), (RUN,), ())


def test_a_write_of_one_side_only_is_a_difference(tmp_path: Path) -> None:
    real = sweep(tmp_path / "b", writes=["create:Job", "create:Event"])
    [found] = compare(sweep(tmp_path / "a"), real, VERSION).differences
    assert (found.aspect, found.run, found.real) == (Aspect.WRITES, "k8sjob", "create:Event#1")


def test_another_verdict_is_a_difference(tmp_path: Path) -> None:
    [found] = compare(sweep(tmp_path / "a"), sweep(tmp_path / "b", held=False), VERSION).differences
    assert (found.aspect, found.simulated, found.real) == (Aspect.VERDICT, "held", "violated")


def test_other_states_are_a_difference(tmp_path: Path) -> None:
    real = sweep(tmp_path / "b", states=(*ENDS[:1], "Running ", *ENDS[1:]))
    [found] = compare(sweep(tmp_path / "a"), real, VERSION).differences
    assert found.aspect is Aspect.STATES
    assert found.real == "Initializing > Running > Running RUNNING > Complete SUCCEEDED"


def test_a_difference_that_is_explained_is_told_with_its_reason(tmp_path: Path) -> None:
    real = sweep(tmp_path / "b", states=(*ENDS[:1], "Running ", *ENDS[1:]))
    reason = Explanation(Aspect.STATES, "k8sjob/*", "Initializing > Running > Running RUNNING*", "Ray starts slowly.")
    other = Explanation(Aspect.VERDICT, "*", "*", "Another aspect.")
    found = compare(sweep(tmp_path / "a"), real, VERSION, [other, reason])
    assert [one.reason for one in found.differences] == ["Ray starts slowly."]
    assert found.unexplained == []
    assert "Ray starts slowly." in markdown(found)
    assert "**unexplained**" in markdown(compare(sweep(tmp_path / "c"), real, VERSION))


def test_a_state_of_which_there_may_be_more_or_fewer_explains_nothing_else(tmp_path: Path) -> None:
    simulated = sweep(tmp_path / "a")
    reason = Explanation(Aspect.STATES, "*", "*", "It depends on when one looks.", without=("Running RUNNING",))
    more = sweep(tmp_path / "b", states=(*ENDS[:1], "Running ", *ENDS[1:]))
    with_running = Explanation(Aspect.STATES, "*", "*", "Both.", without=("Running", "Running RUNNING"))
    assert [one.reason for one in compare(simulated, more, VERSION, [reason]).differences] == [""]
    assert [one.reason for one in compare(simulated, more, VERSION, [reason, with_running]).differences] == ["Both."]


def test_sweeps_with_nothing_in_common_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in common; they have none"):
        compare(sweep(tmp_path / "a"), SweepFolder(tmp_path / "none"), VERSION)


def test_a_state_is_told_once_as_long_as_it_stays(tmp_path: Path) -> None:
    folder = sweep(tmp_path, states=("Running RUNNING", "Running RUNNING", "Complete SUCCEEDED"))
    [result] = folder.results()
    assert states(folder.path / result.folder) == ["Running RUNNING", "Complete SUCCEEDED"]


def test_the_explanations_can_be_read_and_bad_ones_are_refused(tmp_path: Path) -> None:
    for explanation in explanations():
        assert explanation.reason
    (tmp_path / "bad.yaml").write_text("- {aspect: colour, run: '*', difference: '*', reason: none}")
    with pytest.raises(InputError, match="list of explained differences"):
        explanations(tmp_path / "bad.yaml")


def test_on_real_pods_scenarios_take_turns_where_work_is_made_and_at_their_last_write() -> None:
    plan = [
        parse(f"{scenario}/{write}@{position}")
        for scenario, writes in {
            "k8sjob": ["create:RayCluster", "create:Job", "update:RayJob/status:jobDeploymentStatus=Complete"],
            "http": ["create:RayCluster", "submit:RayJobs"],
        }.items()
        for write in writes
        for position in ("before", "committed", "lost")
    ]
    assert [str(point) for point in subset([*plan, parse("http/submit:RayJobs@committed+again")])] == [
        "k8sjob/create:Job#1@committed",
        "http/submit:RayJobs#1@committed",
        "k8sjob/create:Job#1@lost",
        "http/submit:RayJobs#1@lost",
        "k8sjob/update:RayJob/status:jobDeploymentStatus=Complete#1@committed",
    ]


def test_the_scenarios_for_real_pods_are_in_the_catalogue() -> None:
    assert [scenario.name for scenario in catalogue.select(on_kind.SCENARIOS)] == list(on_kind.SCENARIOS)
