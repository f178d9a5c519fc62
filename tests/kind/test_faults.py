"""Faults of a real cluster, on kind: every scenario holds, or deviates as the list for this version of KubeRay says."""

from collections.abc import Iterator, Mapping

import pytest

from kuberay_e2e import state
from kuberay_e2e.clusterfaults import suite
from kuberay_e2e.clusterfaults.registry import SCENARIOS
from kuberay_e2e.clusterfaults.scenario import Scenario
from kuberay_e2e.session import OperatorKind, Session, kind
from kuberay_e2e.targets import kind_needs
from kuberay_e2e.verdicts import State, Verdict
from kuberay_toolchain.toolchain import Toolchain

pytestmark = [pytest.mark.kind, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A kind cluster of two nodes with the operator in its pod."""
    toolchain = Toolchain()
    programs, images = kind_needs(toolchain, OperatorKind.POD)
    with state.claim(state.free_name("pytest")) as run, kind(run, programs, images, nodes=2) as opened:
        opened.install()
        opened.start_operator()
        yield opened


@pytest.fixture(scope="module")
def verdicts(session: Session, request: pytest.FixtureRequest) -> Mapping[str, Verdict]:
    """The verdicts of the scenarios that were selected, by their titles; they ran side by side."""
    selected = [item.callspec.params.get("scenario") for item in request.session.items if hasattr(item, "callspec")]
    scenarios = [scenario for scenario in SCENARIOS if scenario in selected]
    return {verdict.name: verdict for verdict in suite.run(session, scenarios)}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
def test_scenario_holds_or_deviates_as_is_known(verdicts: Mapping[str, Verdict], scenario: Scenario) -> None:
    verdict = verdicts[scenario.title]
    assert verdict.state in (State.HELD, State.DEVIATES), "\n".join((verdict.seen, *verdict.evidence))
