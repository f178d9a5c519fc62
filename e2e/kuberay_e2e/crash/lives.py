"""The lives of the operator in a run: how they begin, how a fault ends them, and who comes after."""

import time
from collections.abc import Callable

from kuberay_e2e.crash.leadership import ENDED, leader
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.slot import Slot
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Fault, Position
from kuberay_e2e.gateway.faults import AnyWrite

BEFORE_UPGRADE = "1.5.1"
"""The release that an upgrade begins with: the last minor before."""

LEASE_SECONDS = 15.0
"""After which a standby takes the Lease of a leader that was killed (controller-runtime's default)."""

_ELECTION_PATIENCE = 30.0


class Lives:
    """Starts the operator of a run, and after a kill what the point wants instead of it.

    Args:
        slot: The place of the run.
        point: Where and how it is disturbed.
        mark: Called with a name when a life ends.

    An upgrade begins with the release before, on the CRDs of the new one: upstream's guide has its users apply the CRDs
    first, since the old operator works with the new CRDs and not the other way round.
    """

    def __init__(self, slot: Slot, point: Point, mark: Callable[[str], None]) -> None:
        self._slot = slot
        self._point = point
        self._mark = mark
        self._faults = [fault for fault in (point.fault(),) if fault is not None]
        self._operator = slot.operators.make(BEFORE_UPGRADE if point.upgrade else "", election=point.failover)
        self._standby = slot.operators.make(election=True) if point.failover else None
        self._back: float | None = None

    @property
    def fired(self) -> bool:
        """True once every fault of the point has acted."""
        expected = 0 if self._point.write is None else 2 if self._point.again else 1
        return sum(fault.fired.is_set() for fault in self._faults) == expected

    @property
    def steady(self) -> bool:
        """True while an operator is there."""
        return self._back is None and not self._operator.doomed

    def last_lines(self) -> str:
        """The last lines of the present operator's log."""
        return self._operator.last_lines()

    def begin(self) -> None:
        """Arm the fault and start the operator, with a standby where the point wants one.

        Raises:
            HarnessError: The operator does not start.
        """
        for fault in self._faults:
            self._arm(fault)
        self._operator.start()
        if self._standby is not None:
            self._await_leader(self._operator.incarnation)
            self._standby.start()

    def look(self) -> None:
        """Do what is due: notice an end, let the user delete the RayJob meanwhile, start the next life.

        Raises:
            HarnessError: The operator does not start, or the sweep cannot go on.
        """
        self._slot.check()
        if self._back is None:
            self._notice()
        if self._back is not None and time.monotonic() >= self._back:
            self._revive()

    def _notice(self) -> None:
        operator = self._operator
        if operator.running and not operator.doomed:
            return
        self._slot.session.engine.run(lambda: None)  # a kill that is going on is over
        if not operator.doomed:
            about = {"incarnation": operator.incarnation, "code": operator.exit_code}
            self._slot.trace.add("operator", event=ENDED, **about)
        operator.wait_killed()
        self._mark(f"killed {operator.incarnation}")
        if self._point.delete:
            self._slot.delete()
        self._back = time.monotonic() + self._point.down

    def _revive(self) -> None:
        self._back = None
        if self._point.again and len(self._faults) == 1:
            self._faults.append(Fault(AnyWrite(), Position.BEFORE))
            self._arm(self._faults[-1])
        if self._standby is not None:
            self._operator, self._standby = self._standby, None
            return
        if self._point.upgrade:
            self._slot.operators.upgrade(self._operator)
        self._operator.start()

    def _arm(self, fault: Fault) -> None:
        self._slot.session.engine.run(lambda: self._slot.gateway.arm(fault))

    def _await_leader(self, incarnation: int) -> None:
        deadline = time.monotonic() + _ELECTION_PATIENCE
        while leader(self._slot.trace.events()) != incarnation:
            self._slot.check()
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"Expected the first operator to take its Lease within {_ELECTION_PATIENCE:.0f} s: "
                    f"{self._operator.last_lines()}"
                )
            time.sleep(0.1)
