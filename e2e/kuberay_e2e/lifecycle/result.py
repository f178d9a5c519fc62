"""What a life cycle found: steps, invariants, and where the time went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

STEPS: Mapping[int, str] = {
    1: "create the cluster",
    2: "install CRDs and operator",
    3: "create the RayJob",
    4: "verify that it succeeded and its RayCluster is kept",
    5: "read the submitter's log",
    6: "delete the RayJob",
    7: "create it with shutdown and TTL",
    8: "verify its status",
    9: "verify that the RayCluster goes at the TTL",
    10: "clean up",
}
"""The ten steps, by number."""


class State(StrEnum):
    """How a step or an invariant came out."""

    HELD = "held"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Step:
    """One of the ten steps.

    Attributes:
        number: 1 to 10.
        state: `failed` where something did not hold, `error` where the machine or the harness failed, `skipped`
            where an earlier step did.
        seconds: How long it took.
        detail: What was seen.
    """

    number: int
    state: State
    seconds: float
    detail: str = ""

    @property
    def title(self) -> str:
        """What the step does."""
        return STEPS[self.number]


@dataclass(frozen=True)
class Invariant:
    """Something that must hold however the operator was disturbed.

    Attributes:
        name: What must hold.
        held: Whether it did.
        seen: What was seen; where it did not hold, also what was expected.
    """

    name: str
    held: bool
    seen: str


@dataclass(frozen=True)
class Result:
    """The outcome of a life cycle.

    Attributes:
        source: Which RayJob it was.
        ray: The Ray back end.
        fault: The fault that was injected.
        steps: The steps, in order.
        invariants: The invariants; empty where the run ended before they could be judged.
        seconds: Total time.
        spent: Seconds by what they were spent on.
        notes: What has to be known to read the result: how the operator was ended, what could not be seen.
    """

    source: str
    ray: str
    fault: str
    steps: Sequence[Step]
    invariants: Sequence[Invariant]
    seconds: float
    spent: Mapping[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def exit_code(self) -> int:
        """0 all held, 1 something did not, 3 the machine or the harness failed."""
        if any(step.state is State.ERROR for step in self.steps):
            return 3
        held = all(step.state is State.HELD for step in self.steps) and all(item.held for item in self.invariants)
        return 0 if held else 1
