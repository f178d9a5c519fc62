"""The Kueue scenarios on kind: Kueue and the operator in their pods, real Ray."""

from collections.abc import Iterator

import pytest

from kuberay_e2e import state
from kuberay_e2e.queueing import runs
from kuberay_e2e.queueing.registry import select
from kuberay_e2e.queueing.runner import play
from kuberay_e2e.session import OperatorKind, Session, kind
from kuberay_e2e.targets import kind_needs
from kuberay_e2e.verdicts import State
from kuberay_toolchain.toolchain import Toolchain

pytestmark = [pytest.mark.kind, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A kind cluster with Kueue and the operator."""
    toolchain = Toolchain()
    programs, images = kind_needs(toolchain, OperatorKind.POD, "kueue")
    with state.claim(state.free_name("pytest")) as run, kind(run, programs, images) as opened:
        runs.install(opened, toolchain)
        yield opened


def test_all_scenarios_hold_or_deviate_as_is_known(session: Session) -> None:
    verdicts = play(session, select(), runs.known_deviations(), remove=False)
    wrong = [verdict for verdict in verdicts if verdict.state not in (State.HELD, State.DEVIATES)]
    assert not wrong, "\n".join(line for verdict in wrong for line in (verdict.name, verdict.seen, *verdict.evidence))
