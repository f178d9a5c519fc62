"""One run: a scenario in a slot, disturbed at one point."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kuberay_e2e.crash.activity import Activity
from kuberay_e2e.crash.ground import Stage
from kuberay_e2e.crash.lives import LEASE_SECONDS, Lives
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.scenario import Action, Scenario
from kuberay_e2e.crash.slot import NAME, Slot
from kuberay_e2e.crash.user import User
from kuberay_e2e.crash.view import View
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray.ledger import AnyEntry
from kuberay_e2e.trace import Event

PAUSE_SECONDS = 0.03
SETTLE_SECONDS = 4.0
"""How long a run is watched after its goal: longer than the 3 s after which KubeRay looks at a RayJob again."""

GONE_SETTLE_SECONDS = 2.0
"""How long a run is watched after its RayJob has gone, which KubeRay does not look at again."""

QUIET_SECONDS = 3.0
"""For how long nothing has gone on in a run that has settled."""

UNREST_SECONDS = 20.0
"""How much longer than usual a run is watched, at most, while something goes on."""

GONE_SECONDS = 45.0


@dataclass(frozen=True)
class Recorded:
    """What one run left for the oracles.

    Attributes:
        point: Where it was disturbed.
        uid: UID of the RayJob.
        events: The trace.
        ledger: What Ray was asked to do and did, for this RayJob.
        unmet: What did not come about in time; empty where all did.
        fired: Whether the fault acted; true for a run without one.
        seconds: How long it took, without the making of its slot.
        spans: When its phases ended: seconds since its begin, by name.
    """

    point: Point
    uid: str
    events: tuple[Event, ...]
    ledger: tuple[AnyEntry, ...]
    unmet: str
    fired: bool
    seconds: float
    spans: Mapping[str, float] = field(default_factory=dict)


class Execution:
    """Drives a scenario in a slot.

    Args:
        slot: The place, in which no operator runs yet.
        scenario: The scenario.
        point: Where it is disturbed.
        stage: What the run's jobs need.
    """

    def __init__(self, slot: Slot, scenario: Scenario, point: Point, stage: Stage) -> None:
        self._slot = slot
        self._scenario = scenario
        self._point = point
        self._stage = stage
        self._view = View(slot.trace, NAME)
        self._activity = Activity(slot.trace)
        self._user = User(slot, scenario, stage, self._view)
        self._lives = Lives(slot, point, self._mark)
        self._started = 0.0
        self._spans: dict[str, float] = {}
        self._patience = scenario.patience * stage.pace + point.down + (LEASE_SECONDS if point.failover else 0)

    def run(self) -> Recorded:
        """Drive it to its goal, watch on, delete the RayJob, and return what was recorded.

        Raises:
            HarnessError: The operator does not start, the API server fails, or a scenario does not come to its goal
                although nothing disturbs it.
        """
        self._lives.begin()
        self._started = time.monotonic()
        uid = self._user.create()
        unmet = self._reach_goal()
        self._mark("goal")
        if unmet and self._point.write is None and not self._slot.gateway.tampered:
            raise HarnessError(
                f"The scenario {self._scenario.name} did not come to its end although nothing disturbed it: {unmet}. "
                f"The operator's last lines:\n{self._lives.last_lines()}"
            )
        if not unmet:
            self._settle(SETTLE_SECONDS if self._view.there else GONE_SETTLE_SECONDS)
        self._mark("settled")
        unmet = self._remove() or unmet
        self._mark("gone")
        return Recorded(
            self._point,
            uid,
            tuple(self._slot.trace.events()),
            tuple(self._stage.ledger()),
            unmet,
            self._lives.fired,
            time.monotonic() - self._started,
            self._spans,
        )

    def _reach_goal(self) -> str:
        pending = list(self._scenario.actions)
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            self._lives.look()
            if self._point.delete and self._view.gone:
                return ""
            if pending and pending[0].when(self._view):
                self._act(pending.pop(0))
            elif not pending and self._lives.steady and self._scenario.goal(self._view):
                return ""
            time.sleep(PAUSE_SECONDS)
        awaited = pending[0].when if pending else self._scenario.goal
        before = f", for its user to {pending[0].act}" if pending else ""
        return (
            f"waited {self._patience:.0f} s until {awaited.sentence}{before}; "
            f"the RayJob {self._view.existence}, its last status {dict(self._view.status)}"
        )

    def _settle(self, seconds: float) -> None:
        """Watch on for so long, and until the operator, which may have been killed at the goal, is done."""
        self._watch(seconds)
        latest = time.monotonic() + UNREST_SECONDS * self._stage.pace + self._point.down
        quiet = min(QUIET_SECONDS, seconds)
        while time.monotonic() < latest and not (self._lives.steady and self._activity.quiet >= quiet):
            self._watch(PAUSE_SECONDS)

    def _watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._lives.look()
            time.sleep(PAUSE_SECONDS)

    def _remove(self) -> str:
        self._slot.delete()
        patience = GONE_SECONDS * self._stage.pace
        deadline = time.monotonic() + patience
        if self._scenario.objects and self._await(lambda: self._view.gone, deadline):
            self._watch(GONE_SETTLE_SECONDS)
            self._user.unmake()
        if self._await(lambda: not self._view.left(), deadline):
            return ""
        return f"not gone {patience:.0f} s after the deletion: {', '.join(self._view.left())}"

    def _await(self, reached: Callable[[], bool], deadline: float) -> bool:
        while not reached():
            self._lives.look()
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def _act(self, action: Action) -> None:
        self._watch(action.after)
        self._user.act(action.act)
        self._mark(str(action.act))

    def _mark(self, name: str) -> None:
        self._spans[name] = round(time.monotonic() - self._started, 3)
