"""A campaign: learn what scenarios write, plan, run what has no result yet, and keep everything in one folder."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from rich.console import Console

from kuberay_e2e import state
from kuberay_e2e.crash import planning
from kuberay_e2e.crash.learning import Learned, learn
from kuberay_e2e.crash.planning import Plan
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.crash.store import Result, SweepFolder, missing
from kuberay_e2e.crash.sweep import Outcome, Sweep, sweeping
from kuberay_e2e.crash.verdict import known_deviations, verdict
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Position
from kuberay_e2e.session import OPERATOR_VERSION
from kuberay_e2e.targets import programs_of
from kuberay_e2e.verdicts import State, Verdict
from kuberay_toolchain.toolchain import Toolchain

LEARNING_RUNS = 3


@dataclass(frozen=True)
class Order:
    """What is asked of a campaign.

    Attributes:
        scenarios: The scenarios.
        positions: The positions.
        everything: Run equivalent points too.
        workers: How many runs at a time.
        part: Which part of the plan, from 1.
        parts: In how many parts the plan is cut.
        seconds: No run is begun after so many; None: all are run.
    """

    scenarios: Sequence[Scenario]
    positions: Sequence[Position] = planning.KILLS
    everything: bool = False
    workers: int = 4
    part: int = 1
    parts: int = 1
    seconds: float | None = None


class Campaign:
    """Works on one folder; its control plane is started when it is first needed.

    Args:
        folder: Where everything is kept.
        console: Where progress is told.
        name: Name of the run and of its cluster.

    Use it as a context manager.
    """

    def __init__(self, folder: SweepFolder, console: Console, name: str) -> None:
        self._folder = folder
        self._console = console
        self._name = name
        self._stack = ExitStack()
        self._sweep: Sweep | None = None
        self._version = OPERATOR_VERSION
        self._known = known_deviations(self._version)

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def learn(self, scenarios: Sequence[Scenario], workers: int, *, anew: bool = False) -> dict[str, Learned]:
        """Run scenarios without a fault, several times each, and keep what they have in common.

        Args:
            scenarios: The scenarios; one that is known already is not run.
            workers: How many runs at a time.
            anew: Run also those that are known.

        Raises:
            HarnessError: A run without a fault failed or broke a promise: there is nothing to compare with.
        """
        known = {} if anew else self._folder.learned(self._version)
        wanted = [scenario for scenario in scenarios if scenario.name not in known]
        points = [Point(scenario.name) for scenario in wanted for _ in range(LEARNING_RUNS)]
        if not points:
            return known
        self._say(f"learning {', '.join(scenario.name for scenario in wanted)}: {len(points)} runs without a fault")
        outcomes = self._open().all(points, workers=workers)
        for outcome in outcomes:
            self._kept(outcome)
        for outcome in outcomes:
            if not outcome.held:
                raise HarnessError(f"The run {outcome.point} without a fault did not hold: {_why(outcome)}")
        found = {
            scenario.name: learn(
                scenario.name,
                [o.recorded.events for o in outcomes if o.point.scenario == scenario.name and o.recorded is not None],
            )
            for scenario in wanted
        }
        self._folder.keep_learned(self._version, found)
        return {**known, **found}

    def plan(self, order: Order) -> Plan:
        """Plan the runs of scenarios, learning first what is not known.

        Raises:
            HarnessError: A run without a fault failed.
        """
        learned = self.learn(order.scenarios, order.workers)
        plans = [
            planning.plan(learned[scenario.name], order.positions, everything=order.everything)
            for scenario in order.scenarios
        ]
        points = tuple(point for plan in plans for point in plan.points)
        return Plan(
            planning.shard(points, order.part, order.parts),
            tuple(pair for plan in plans for pair in plan.equivalent),
        )

    def run(self, order: Order) -> list[Verdict]:
        """Run the points of a plan that have no result yet.

        Returns:
            The verdicts of the whole plan, as far as it was run.

        Raises:
            HarnessError: A run without a fault failed, or the control plane did not come up.
        """
        plan = self.plan(order)
        left = missing(plan.points, self._folder.results(), self._version)
        self._say(f"{len(plan.points)} runs planned, {len(plan.equivalent)} equivalent left out, {len(left)} to do")
        self._run(left, order)
        wanted = {str(point) for point in plan.points}
        return [self._verdict(result) for result in self._folder.results() if str(result.point) in wanted]

    def replay(self, point: Point) -> Verdict:
        """Run one point, whatever is known of it."""
        [result] = self._run([point], Order((), workers=1))
        return self._verdict(result)

    def _run(self, points: Sequence[Point], order: Order) -> list[Result]:
        if not points:
            return []
        sweep, started, results = self._open(), time.monotonic(), list[Result]()

        def ended(outcome: Outcome) -> None:
            results.append(self._kept(outcome))
            passed = time.monotonic() - started
            rest = passed / len(results) * (len(points) - len(results))
            judged = self._verdict(results[-1])
            self._say(f"{len(results):>4}/{len(points)} {judged.state:8} {outcome.point}  ({rest:.0f} s to go)")
            if judged.state in (State.VIOLATED, State.ERROR):
                self._say(f"     {judged.seen}")

        sweep.all(points, workers=order.workers, ended=ended, seconds=order.seconds)
        return results

    def _kept(self, outcome: Outcome) -> Result:
        spans = outcome.recorded.spans if outcome.recorded else {}
        files = self._folder.keep_files(outcome.point, outcome.folder) if outcome.folder.exists() else ""
        result = Result(
            outcome.point, self._version, round(outcome.seconds, 3), outcome.findings, outcome.error, spans, files
        )
        self._folder.keep(result)
        return result

    def _verdict(self, result: Result) -> Verdict:
        return verdict(result, self._known)

    def _open(self) -> Sweep:
        if self._sweep is None:
            state.sweep()
            run = self._stack.enter_context(state.claim(self._name))
            self._sweep = self._stack.enter_context(sweeping(run, programs_of(Toolchain())))
        return self._sweep

    def _say(self, sentence: str) -> None:
        self._console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def _why(outcome: Outcome) -> str:
    return outcome.error or "; ".join(
        f"{finding.promise}: {finding.seen}" + (f" (expected {finding.expected})" if finding.expected else "")
        for finding in outcome.broken
    )
