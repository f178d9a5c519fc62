"""Learning: which writes a scenario makes without a fault, and which of them are the same in every run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kuberay_e2e.crash.difference import EndState, facts_of
from kuberay_e2e.gateway import WriteSelector
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.trace import Event


@dataclass(frozen=True)
class Write:
    """A write as one run made it.

    Attributes:
        selector: How a fault chooses it.
        status: HTTP status of the answer.
    """

    selector: WriteSelector
    status: int


@dataclass(frozen=True)
class Learned:
    """What the fault-free runs of a scenario have in common.

    Attributes:
        scenario: Name of the scenario.
        runs: How many runs there were.
        writes: The writes that every run made, in the order of the first.
        unstable: Why a write is left out, by its identity.
        end: The end state that every run came to; empty where it is not known.
    """

    scenario: str
    runs: int
    writes: tuple[WriteSelector, ...]
    unstable: Mapping[str, str]
    end: EndState = field(default_factory=EndState)

    def without(self, write: WriteSelector | None) -> "Learned":
        """The same, told that a write is not made in every run after all."""
        writes = tuple(one for one in self.writes if one != write)
        why = f"made in {self.runs} of {self.runs} runs without a fault, and not in two that were to disturb it"
        return replace(self, writes=writes, unstable={**self.unstable, str(write): why})


def answered(events: Sequence[Event]) -> dict[int, int]:
    """The HTTP status that each request of a trace was answered with, by the request's place in it."""
    return {event.data["of"]: int(event.data["status"]) for event in events if event.kind == "response"}


def essence(change: str) -> str:
    """What a status write changes, without what comes with it in one run and before it in another.

    KubeRay stores the end of a job at once with the end of its RayJob, or the one and then the other, as it happens.
    """
    values = [part for part in change.split(",") if "=" in part]
    if any(part.startswith("jobDeploymentStatus=") for part in values):
        values = [part for part in values if not part.startswith("jobStatus=")]
    return ",".join(values) or change


def writes_of(events: Sequence[Event]) -> list[Write]:
    """The writes of a run, in their order, each chosen by name where its kind alone would not tell.

    Args:
        events: The trace of the run.
    """
    answers = answered(events)
    found = []
    seen: Counter[WriteSelector] = Counter()
    for event in events:
        if event.kind != "request" or "write" not in event.data:
            continue
        made = parse(str(event.data["write"])).write
        bare = replace(made, occurrence=1, name=event.data.get("write_name", ""), change=essence(made.change))
        seen[bare] += 1
        found.append(Write(replace(bare, occurrence=seen[bare]), answers.get(event.sequence, 0)))
    return found


def learn(scenario: str, runs: Sequence[Sequence[Event]]) -> Learned:
    """Keep the writes that all runs made, and name the others with the reason.

    The operator's cache is behind now and then, so that the API server refuses a write of one run (409) that it stores
    in another; such a write is kept, and one that is refused in every run is not.

    Args:
        scenario: Name of the scenario.
        runs: The traces of its fault-free runs.
    """
    made = [writes_of(events) for events in runs]
    counts = Counter(write.selector for writes in made for write in writes)
    stored = {write.selector for writes in made for write in writes if write.status < 400}
    order = dict.fromkeys(write.selector for writes in made for write in writes)
    unstable = {}
    for selector in order:
        if counts[selector] < len(runs):
            unstable[str(selector)] = f"made in {counts[selector]} of {len(runs)} runs"
        elif selector not in stored:
            unstable[str(selector)] = "refused by the API server in every run without a fault"
    writes = tuple(one for one in order if str(one) not in unstable)
    return Learned(scenario, len(runs), writes, unstable, EndState.common([facts_of(events) for events in runs]))
