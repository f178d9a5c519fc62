"""The scenarios there are."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kuberay_e2e.crash.catalogue import cleanup, deletion, failures, runs, suspension
from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.errors import InputError

SCENARIOS: tuple[Scenario, ...] = (
    *runs.SCENARIOS,
    *cleanup.SCENARIOS,
    *failures.SCENARIOS,
    *suspension.SCENARIOS,
    *deletion.SCENARIOS,
)
"""Every scenario, in the order of the plan."""

BY_NAME: Mapping[str, Scenario] = MappingProxyType({scenario.name: scenario for scenario in SCENARIOS})


def select(names: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios of these names; without one, all.

    Raises:
        InputError: There is none of a name.
    """
    for name in names:
        if name not in BY_NAME:
            raise InputError(f"There is no scenario called {name!r}; the scenarios are {', '.join(BY_NAME)}.")
    return tuple(BY_NAME[name] for name in names) if names else SCENARIOS
