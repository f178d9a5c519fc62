"""What may go with a kill is carried out for real: RayJobs come through a second kill, a takeover and an upgrade."""

from collections.abc import Iterator

import pytest

from kuberay_e2e.crash import point as points
from kuberay_e2e.crash.ground import RunScripts, SimulatedGround
from kuberay_e2e.crash.lives import BEFORE_UPGRADE
from kuberay_e2e.crash.sweep import Outcome, Sweep
from kuberay_e2e.session import OPERATOR_VERSION, Session

pytestmark = pytest.mark.e2e

CREATED = "k8sjob/create:RayCluster~job-*#1"


@pytest.fixture(scope="module")
def sweep(kuberay_session: Session, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sweep]:
    from kuberay_e2e.targets import programs_of
    from kuberay_toolchain.toolchain import Toolchain

    kuberay_session.stop_operator()
    programs = programs_of(Toolchain(), BEFORE_UPGRADE)
    yield Sweep(SimulatedGround(kuberay_session, RunScripts()), programs, tmp_path_factory.mktemp("runs"))
    kuberay_session.start_operator()


def outcome(sweep: Sweep, text: str) -> Outcome:
    found = sweep.run(points.parse(text))
    assert not found.error, found.error
    assert [finding for finding in found.findings if not finding.held] == []
    return found


def lives(found: Outcome, event: str) -> list[tuple[int, str]]:
    assert found.recorded is not None
    operators = [entry.data for entry in found.recorded.events if entry.kind == "operator"]
    return [(data["incarnation"], data.get("version", "")) for data in operators if data["event"] == event]


def test_a_second_kill_before_the_next_write(sweep: Sweep) -> None:
    found = outcome(sweep, f"{CREATED}@committed+again")
    assert [number for number, _ in lives(found, "killed")] == [1, 2]
    assert [number for number, _ in lives(found, "started")] == [1, 2, 3]


@pytest.mark.nightly
def test_a_deletion_while_the_operator_is_down(sweep: Sweep) -> None:
    found = outcome(sweep, f"{CREATED}@committed+delete")
    assert any(finding.promise == "no more than without a fault" for finding in found.findings)


@pytest.mark.nightly
def test_a_standby_takes_over_and_never_writes_before(sweep: Sweep) -> None:
    found = outcome(sweep, f"{CREATED}@committed+failover")
    assert [number for number, _ in lives(found, "killed")] == [1]
    assert [number for number, _ in lives(found, "started")] == [1, 2]
    assert found.recorded is not None
    writers = [event.data["incarnation"] for event in found.recorded.events if "write" in event.data]
    assert set(writers) == {1, 2}


def test_the_next_release_comes_back(sweep: Sweep) -> None:
    found = outcome(sweep, f"{CREATED}@committed+upgrade")
    assert lives(found, "started") == [(1, BEFORE_UPGRADE), (2, OPERATOR_VERSION)]


@pytest.mark.nightly
@pytest.mark.parametrize("position", ["429", "500", "stale", "lost"])
@pytest.mark.parametrize("write", ["create:Pod~job-*-head-*#1", "create:Job~job#1"])
def test_the_operator_gets_over_what_it_is_answered(sweep: Sweep, write: str, position: str) -> None:
    assert lives(outcome(sweep, f"k8sjob/{write}@{position}"), "started") == [(1, OPERATOR_VERSION)]


def test_a_fault_that_does_not_act_is_an_error(sweep: Sweep) -> None:
    found = sweep.run(points.parse("http/create:Ingress#1@committed"))
    assert "did not act, so that nothing was tested: the operator did not make create:Ingress#1." in found.error
    assert found.unmade
