"""Killing the operator at a write of the scenario's own job, and starting it again."""

from collections.abc import Iterator
from contextlib import contextmanager

from kuberay_e2e.lifecycle.waiting import NotYetError
from kuberay_e2e.queueing.scenario import Desk


@contextmanager
def crash(desk: Desk) -> Iterator[None]:
    """Let the desk's fault wait for its write during the block; in the end the operator has been started again.

    Nothing happens at a desk without a fault.
    """
    fault = desk.fault
    if fault is None:
        yield
        return
    session = desk.session
    session.arm(fault)
    try:
        yield
        desk.keep("the operator makes the write at which it is killed", lambda: _fired(desk))
    finally:
        session.disarm(fault)
        if fault.fired.is_set() and fault.position.kills:
            session.operator.wait_killed()
            session.start_operator()


def _fired(desk: Desk) -> str:
    assert desk.fault is not None
    if not desk.fault.fired.is_set():
        raise NotYetError(f"no {desk.fault.write}")
    return str(desk.fault)
