"""A recorded run as the oracles read it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.verdicts import Finding


@dataclass(frozen=True)
class Evidence:
    """A recorded run, read once for all oracles."""

    scenario: Scenario
    recorded: Recorded
    recording: Recording

    @classmethod
    def of(cls, scenario: Scenario, recorded: Recorded) -> "Evidence":
        """Read a run."""
        return cls(scenario, recorded, Recording.of(recorded.events, recorded.uid))

    @property
    def statuses(self) -> list[Mapping[str, Any]]:
        """The RayJob's statuses, each different from the one before."""
        return self.recording.statuses()

    @property
    def final(self) -> Mapping[str, Any]:
        """The last status."""
        return self.statuses[-1] if self.statuses else {}


Oracle = Callable[[Evidence], Finding]
