"""Plays scenarios on a session: one `pulumi up` makes all their queues, then they run side by side."""

import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kuberay_e2e.deviations import Deviations
from kuberay_e2e.queueing.queues import configuration
from kuberay_e2e.queueing.scenario import Scenario
from kuberay_e2e.session import Session
from kuberay_e2e.verdicts import Verdict

KUEUE_VERSION = "0.19.2"

_SIMULATED_AT_ONCE, _REAL_AT_ONCE = 4, 3
"""How many scenarios run at the same time; a real Ray head needs most of a CPU while it starts."""


def play(
    session: Session,
    scenarios: Sequence[Scenario],
    known: Deviations,
    *,
    side_by_side: int | None = None,
    remove: bool = True,
    ended: Callable[[Verdict], None] = lambda _: None,
) -> list[Verdict]:
    """Play scenarios, each in a namespace of its own.

    Those that disturb others run one after the other, when the others are over.

    Args:
        session: A session with operator and Kueue.
        scenarios: The scenarios.
        known: Known deviations.
        side_by_side: How many run at a time; default: 4 where pods are simulated, 3 where they are real.
        remove: Remove the queues in the end; not needed where the cluster goes anyway.
        ended: Called with each verdict, from any thread.

    Raises:
        HarnessError: Pulumi did not make or remove the queues.
    """
    suffix = secrets.token_hex(2)
    namespaces = {scenario.name: f"queueing-{number}-{suffix}" for number, scenario in enumerate(scenarios, 1)}
    stack = session.stack(f"queueing-{suffix}")
    stack.apply(configuration({namespaces[scenario.name]: scenario.quota for scenario in scenarios}))

    def run(scenario: Scenario) -> Verdict:
        verdict = scenario.run(session, namespaces[scenario.name], known)
        ended(verdict)
        return verdict

    together = [scenario for scenario in scenarios if not scenario.exclusive]
    alone = [scenario for scenario in scenarios if scenario.exclusive]
    at_once = _SIMULATED_AT_ONCE if session.cluster.simulated_pods else _REAL_AT_ONCE
    try:
        with ThreadPoolExecutor(max_workers=side_by_side or at_once) as pool:
            verdicts = list(pool.map(run, together))
        return verdicts + [run(scenario) for scenario in alone]
    finally:
        if remove:
            stack.destroy()
