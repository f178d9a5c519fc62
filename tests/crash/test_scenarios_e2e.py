"""Every scenario comes to its end without a fault, and so does the RayJob of a user's own."""

from collections.abc import Iterator, Mapping

import pytest

from kuberay_e2e import samples, state
from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash.catalogue import SCENARIOS
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.sweep import Outcome, Sweep, sweeping
from kuberay_e2e.session import Programs

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

WORKERS = 6
"""More than a sweep has: where nothing is disturbed, runs wait most of the time."""


@pytest.fixture(scope="module")
def sweep(kuberay_programs: Programs) -> Iterator[Sweep]:
    with state.claim(state.free_name("pytest")) as run, sweeping(run, kuberay_programs) as found:
        yield found


@pytest.fixture(scope="module")
def own() -> str:
    [scenario] = catalogue.select([str(samples.path())])
    return scenario.name


@pytest.fixture(scope="module")
def outcomes(sweep: Sweep, own: str) -> Mapping[str, Outcome]:
    longest_first = sorted(SCENARIOS, key=lambda scenario: -scenario.patience - scenario.expected.attempts)
    points = [Point(name) for name in (*(scenario.name for scenario in longest_first), own)]
    return {outcome.point.scenario: outcome for outcome in sweep.all(points, workers=WORKERS)}


def broken(outcome: Outcome) -> list[str]:
    return [f"{finding.promise}: {finding.seen}, expected {finding.expected}" for finding in outcome.broken]


@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS])
def test_a_scenario_keeps_its_promises(outcomes: Mapping[str, Outcome], name: str) -> None:
    assert outcomes[name].error == ""
    assert broken(outcomes[name]) == []


def test_a_rayjob_of_a_users_own_keeps_its_promises(outcomes: Mapping[str, Outcome], own: str) -> None:
    assert outcomes[own].error == ""
    assert broken(outcomes[own]) == []
