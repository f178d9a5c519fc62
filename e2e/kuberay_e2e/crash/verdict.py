"""From the result of a run to its verdict, by the deviations that are known."""

from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash.store import Result
from kuberay_e2e.deviations import Deviations, judge
from kuberay_e2e.verdicts import State, Verdict

PROMISE = "With an operator that is disturbed here it comes to the same end as without a fault, and does nothing twice."


def known_deviations(version: str) -> Deviations:
    """The deviations that sweeps of an operator version know."""
    return Deviations.of(sweep=version)


def verdict(result: Result, known: Deviations) -> Verdict:
    """Judge a run.

    Args:
        result: The run; its point is the scenario's name in the verdict.
        known: What is known of its operator version.
    """
    name = str(result.point)
    expected = f"{catalogue.BY_NAME[result.point.scenario].sentence} {PROMISE}"
    if result.error:
        return Verdict(name, State.ERROR, result.seconds, expected, result.error, findings=result.findings)
    return judge(name, result.findings, known, expected=expected, seconds=result.seconds)
