"""The result decides the exit code and is what JUnit shows."""

import xml.etree.ElementTree as ET

import pytest

from kuberay_e2e import report
from kuberay_e2e.lifecycle import Invariant, Result, State, Step
from kuberay_e2e.lifecycle.clock import Clock


def result(*states: State, held: bool = True) -> Result:
    steps = [Step(number, state, 1.5, "seen\nmore") for number, state in enumerate(states, start=1)]
    return Result("job.yaml:1", "simulated", "create:Job#1@committed", steps, [Invariant("one jobId", held, "x")], 9.0)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (result(State.HELD, State.HELD), 0),
        (result(State.HELD, State.FAILED, State.SKIPPED), 1),
        (result(State.HELD, State.HELD, held=False), 1),
        (result(State.ERROR, State.SKIPPED), 3),
        (result(State.FAILED, State.ERROR), 3),
    ],
)
def test_exit_code(found: Result, code: int) -> None:
    assert found.exit_code == code


def test_junit_has_a_case_per_step_and_invariant() -> None:
    [suite] = ET.fromstring(report.junit_xml(result(State.HELD, State.FAILED, State.SKIPPED, held=False)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "1")
    first, second, third, invariant = suite.findall("testcase")
    assert first.get("name") == "01 create the cluster"
    failure = second.find("failure")
    assert failure is not None
    assert failure.get("message") == "seen"
    assert third.find("skipped") is not None
    assert invariant.find("failure") is not None


def test_time_is_split_by_what_it_was_spent_on() -> None:
    clock = Clock(kuberay_seconds=30.0, pulumi_seconds=20.0)
    assert clock.split(60.0) == {"kuberay": 30.0, "pulumi": 20.0, "harness": 10.0}


def test_markdown_has_a_line_per_step_and_invariant() -> None:
    text = report.markdown(result(State.HELD, State.FAILED, State.SKIPPED, held=False))
    assert text.startswith("# Life cycle of a RayJob: job.yaml:1\n\nOperator disturbed at `create:Job#1@committed`")
    assert "| 2 | install CRDs and operator | failed | 1.5 | seen more |" in text
    assert "| one jobId | **broken** | x |" in text
