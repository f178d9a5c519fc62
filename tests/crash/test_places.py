"""What is remembered of the catalogue, so that a short sweep need not begin with learning."""

from kuberay_e2e.crash.catalogue import SCENARIOS
from kuberay_e2e.crash.places import EMBEDDED, KIND, MEMORY
from kuberay_e2e.session import OPERATOR_VERSION


def test_every_scenario_of_the_catalogue_is_remembered() -> None:
    known = MEMORY.learned(OPERATOR_VERSION)
    assert set(known) == {scenario.name for scenario in SCENARIOS}
    for name, learned in known.items():
        assert learned.runs >= EMBEDDED.learning_runs, name
        assert len(learned.writes) >= 10, name
        assert learned.end.facts, name


def test_what_simulated_pods_show_is_not_taken_for_what_real_ones_do() -> None:
    assert EMBEDDED.memory is MEMORY
    assert KIND.memory is None
