"""What a fault brings about is a finding: kept with the seconds that it took, or broken with what was seen instead."""

import time

import pytest

from kuberay_e2e.clusterfaults.trial import Trial
from kuberay_e2e.lifecycle.waiting import NotYetError


@pytest.fixture
def trial() -> Trial:
    struck = object.__new__(Trial)
    struck._struck = time.time() - 7
    return struck


def test_what_comes_about_is_told_with_its_seconds(trial: Trial) -> None:
    found = trial.comes_about("it runs again", "it to run", lambda: None, seconds=1, said="it ran {} s after the fault")
    assert (found.promise, found.held, found.seen) == ("it runs again", True, "it ran 7 s after the fault")


def test_what_does_not_come_about_is_told_with_what_was_seen(trial: Trial) -> None:
    def look() -> None:
        raise NotYetError("nobody")

    found = trial.comes_about("another leader takes over", "another leader", look, seconds=0.1, pause=0.01)
    assert not found.held
    assert "another leader" in found.seen and "nobody" in found.seen
