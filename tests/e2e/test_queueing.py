"""The Kueue scenarios on the embedded cluster: real Kueue, real operator, simulated pods.

The same scenarios run with real pods on kind, see `tests/kind/test_queueing.py`.
"""

from collections.abc import Iterator, Mapping
from typing import TypeGuard

import pytest

from kuberay_e2e.deviations import Deviations
from kuberay_e2e.lifecycle.waiting import NotYetError
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.queueing.queues import BATCH, Quota, configuration
from kuberay_e2e.queueing.registry import select
from kuberay_e2e.queueing.runner import play
from kuberay_e2e.queueing.runs import known_deviations
from kuberay_e2e.queueing.scenario import Desk, Scenario
from kuberay_e2e.queueing.workloads import ENDLESS, SCRIPTS
from kuberay_e2e.session import Session
from kuberay_e2e.verdicts import State, Verdict

pytestmark = pytest.mark.e2e

NIGHTLY = ("quota-after-deletion", "quota-after-validation-failed", "quota-after-invalid-edit", "kueue-away")
"""Scenarios of which another one comes near, or that take long."""

SCENARIOS = [
    pytest.param(scenario.name, marks=[pytest.mark.nightly] if scenario.name in NIGHTLY else [])
    for scenario in select()
]


@pytest.fixture(scope="module")
def queued_session(kuberay_session: Session, kuberay_kueue: KueueRunner, kuberay_scripts: Scripts) -> Session:
    """The shared cluster with Kueue; simulated jobs do what the scenarios' entrypoints say."""
    assert kuberay_kueue.ready == 1
    if not kuberay_session.operator.running:
        kuberay_session.start_operator()
    for entrypoint, script in SCRIPTS.items():
        kuberay_scripts.set(entrypoint, script)
    return kuberay_session


@pytest.fixture(scope="module")
def verdicts(request: pytest.FixtureRequest, queued_session: Session) -> Mapping[str, Verdict]:
    """The scenarios that are asked for, played side by side where they do not disturb each other."""
    asked = [str(item.callspec.params["name"]) for item in request.session.items if _is_of_a_scenario(item)]
    played = play(queued_session, select(asked), known_deviations())
    return {verdict.scenario: verdict for verdict in played}


def _is_of_a_scenario(item: pytest.Item) -> TypeGuard[pytest.Function]:
    return isinstance(item, pytest.Function) and item.function is test_a_scenario_holds_or_deviates_as_is_known


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_holds_or_deviates_as_is_known(verdicts: Mapping[str, Verdict], name: str) -> None:
    verdict = verdicts[name]
    assert verdict.state in (State.HELD, State.DEVIATES), "\n".join([verdict.seen, *verdict.evidence])


@pytest.fixture
def desk(queued_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str) -> Iterator[str]:
    """A namespace whose queue has no quota for any job."""
    assert kuberay_operator.running
    stack = queued_session.stack(kuberay_namespace)
    config = configuration({kuberay_namespace: Quota(10)})
    stack.apply({**config, "namespaces": [], "flavors": {}, "priorityClasses": {}})
    yield kuberay_namespace
    stack.destroy()


def never_admitted(desk: Desk) -> None:
    """Expects what cannot come."""
    job = desk.job("job", queue=BATCH, entrypoint=ENDLESS).create()
    desk.keep("the job waits suspended", job.suspended)
    desk.expect("the job is admitted without quota", job.admitted, seconds=1)
    desk.stay("the job is not there", lambda: absent(desk), seconds=1)
    raise AssertionError("a broken promise ends the scenario")


def absent(desk: Desk) -> str:
    if desk.session.reader.get("RayJob", desk.namespace, "job") is not None:
        raise NotYetError("it is there")
    return "it is not there"


def test_broken_promises_are_told_with_what_was_seen(queued_session: Session, desk: str) -> None:
    scenario = Scenario("impossible", "A job is admitted without quota.", "It cannot be.", Quota(10), never_admitted)
    verdict = scenario.run(queued_session, desk, Deviations())
    assert verdict.state is State.VIOLATED
    assert [finding.held for finding in verdict.findings] == [True, False, False]
    assert "job is not admitted" in verdict.findings[1].seen
    assert any(line.endswith("RayJob job: Suspended") for line in verdict.evidence)
    assert any("BROKEN: the job is admitted without quota" in line for line in verdict.evidence)


def test_a_request_that_is_refused_is_a_broken_promise(queued_session: Session, desk: str) -> None:
    def refused(desk: Desk) -> None:
        desk.job("job", queue=BATCH, spec={"shutdownAfterJobFinishes": False}).create()

    scenario = Scenario("refused", "A job is refused.", "It is not.", Quota(10), refused)
    verdict = scenario.run(queued_session, desk, Deviations())
    assert verdict.state is State.VIOLATED
    assert "shutdownAfterJobFinishes" in verdict.seen
