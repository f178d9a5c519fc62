"""The scenarios there are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from kuberay_e2e.crash import authored
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

_known = {scenario.name: scenario for scenario in SCENARIOS}

BY_NAME: Mapping[str, Scenario] = MappingProxyType(_known)
"""Every scenario by its name, those among them that users brought."""


def register(scenario: Scenario) -> None:
    """Make a user's scenario known by its name; it takes the place of an earlier one of that name.

    Raises:
        InputError: A scenario of the catalogue has its name.
    """
    if any(scenario.name == own.name for own in SCENARIOS):
        raise InputError(
            f"The RayJob {scenario.name} has the name of a scenario of the catalogue, so that their runs could not be "
            "told apart. Rename it."
        )
    _known[scenario.name] = scenario


def select(names: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios of these names; without one, all of the catalogue.

    Args:
        names: Names, or paths of manifests with a RayJob, which end in .yaml, .yml or .json.

    Raises:
        InputError: There is none of a name, or a manifest cannot be used.
    """
    return tuple(_selected(name) for name in names) if names else SCENARIOS


def _selected(name: str) -> Scenario:
    if Path(name).suffix in (".yaml", ".yml", ".json"):
        scenario = authored.scenario_of(Path(name))
        register(scenario)
        return scenario
    if name not in BY_NAME:
        raise InputError(
            f"There is no scenario called {name!r}; the scenarios are {', '.join(BY_NAME)}. A manifest of your own is "
            "named by its path, which ends in .yaml, .yml or .json."
        )
    return BY_NAME[name]
