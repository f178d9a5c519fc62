"""Runs scenarios on one cluster: those of a group side by side, each in a namespace of its own."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from kuberay_e2e.api import retried
from kuberay_e2e.clusterfaults.scenario import Group, Scenario
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.session import Session
from kuberay_e2e.verdicts import State, Verdict

SIDE_BY_SIDE = min(4, (os.cpu_count() or 1) + 1)
"""How many RayJobs run at the same time: each needs a core while its head starts, and then waits most of its time."""


def run(
    session: Session,
    scenarios: Sequence[Scenario],
    *,
    side_by_side: int = SIDE_BY_SIDE,
    ended: Callable[[Verdict], None] = lambda _: None,
) -> list[Verdict]:
    """Run scenarios, and return their verdicts in the order of the scenarios.

    Args:
        session: A session on a cluster with access to its nodes, the operator installed and running.
        scenarios: The scenarios.
        side_by_side: How many of a group may run at the same time.
        ended: Called with each verdict as it is reached, from any thread.
    """
    verdicts: dict[str, Verdict] = {}

    def judged(scenario: Scenario) -> None:
        verdicts[scenario.title] = verdict = _run(session, scenario)
        ended(verdict)

    pool = ThreadPoolExecutor(side_by_side, thread_name_prefix="scenario")
    try:
        for group in Group:
            list(pool.map(judged, [scenario for scenario in scenarios if scenario.group is group]))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [verdicts[scenario.title] for scenario in scenarios]


def _run(session: Session, scenario: Scenario) -> Verdict:
    try:
        with namespace(session) as name:
            return scenario.run(session, name)
    except HarnessError as error:
        return Verdict(scenario.name, State.ERROR, 0.0, scenario.doc, str(error), scenario.mode)


@contextmanager
def namespace(session: Session) -> Iterator[str]:
    """A namespace of a scenario's own; it goes with everything in it when the block ends."""
    name = f"fault-{secrets.token_hex(4)}"
    with session.access.client(timeout=30.0) as client:
        answer = retried(lambda: client.post("/api/v1/namespaces", json={"metadata": {"name": name}}))
        if not answer.is_success:
            raise HarnessError(
                f"Expected to create the namespace {name}, got {answer.status_code}: {answer.text[:300]}"
            )
        try:
            yield name
        finally:
            retried(lambda: client.delete(f"/api/v1/namespaces/{name}"))
