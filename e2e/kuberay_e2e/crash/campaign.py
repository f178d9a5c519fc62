"""A campaign: learn what scenarios write, plan, run what has no result yet, and keep everything in one folder."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from rich.console import Console

from kuberay_e2e import state
from kuberay_e2e.crash import authored, catalogue, coverage, planning
from kuberay_e2e.crash.difference import EndState
from kuberay_e2e.crash.health import ControlPlaneGone, SweepError, no_space
from kuberay_e2e.crash.learning import Learned, learn
from kuberay_e2e.crash.lives import BEFORE_UPGRADE
from kuberay_e2e.crash.places import EMBEDDED, Place
from kuberay_e2e.crash.planning import Plan, Subject
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.crash.store import Result, SweepFolder, missing
from kuberay_e2e.crash.sweep import Outcome, Sweep
from kuberay_e2e.crash.verdict import known_deviations, verdict
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Position
from kuberay_e2e.session import OPERATOR_VERSION
from kuberay_e2e.verdicts import State, Verdict

SECONDS_PER_RUN = 2.0
"""How much longer a sweep with several workers takes for each run, on two cores."""

_FEW_ERRORS, _ERRORS_OF = 3, 5
"""With more than three runs in error, and more than one of five, something else is wrong than a busy machine."""

_RESTARTS = 3
"""How often a control plane that has ended is started again."""


@dataclass(frozen=True)
class Order:
    """What is asked of a campaign.

    Attributes:
        scenarios: The scenarios.
        positions: Only these positions, without variants; default: the whole plan.
        everything: Run equivalent points too, and every variant at every write.
        workers: How many runs at a time; None: what the place takes.
        part: Which part of the plan, from 1.
        parts: In how many parts the plan is cut.
        seconds: Run what covers most in so many; None: all are run.
    """

    scenarios: Sequence[Scenario]
    positions: Sequence[Position] = ()
    everything: bool = False
    workers: int | None = None
    part: int = 1
    parts: int = 1
    seconds: float | None = None


class Campaign:
    """Works on one folder; its control plane is started when it is first needed.

    Args:
        folder: Where everything is kept.
        console: Where progress is told.
        name: Name of the run and of its cluster.
        place: Where runs take place.

    Use it as a context manager.
    """

    def __init__(self, folder: SweepFolder, console: Console, name: str, place: Place = EMBEDDED) -> None:
        self._place = place
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

    def learn(
        self, scenarios: Sequence[Scenario], workers: int | None = None, *, anew: bool = False
    ) -> dict[str, Learned]:
        """Run scenarios without a fault, several times each, and keep what they have in common.

        Args:
            scenarios: The scenarios; one that is known already is not run.
            workers: How many runs at a time.
            anew: Run also those that are known.

        Raises:
            HarnessError: A run without a fault failed or broke a promise: there is nothing to compare with.
        """
        self._keep_authored(scenarios)
        known = {} if anew else self._recalled([scenario.name for scenario in scenarios], self._version)
        wanted = [scenario for scenario in scenarios if scenario.name not in known]
        points = [Point(scenario.name) for _ in range(self._place.learning_runs) for scenario in wanted]
        if not points:
            return known
        self._say(f"learning {', '.join(scenario.name for scenario in wanted)}: {len(points)} runs without a fault")
        outcomes = self._all(points, workers)
        failed = [outcome for outcome in outcomes if not outcome.held]
        unknown = {outcome.point.scenario for outcome in failed}
        wanted = [scenario for scenario in wanted if scenario.name not in unknown]
        found = {
            scenario.name: learn(
                scenario.name,
                [o.recorded.events for o in outcomes if o.point.scenario == scenario.name and o.recorded is not None],
            )
            for scenario in wanted
        }
        for scenario in wanted:
            if scenario.manifest is not None:
                runs = [o.recorded for o in outcomes if o.point.scenario == scenario.name and o.recorded is not None]
                self._keep_authored([authored.learned(scenario, runs)])
        self._folder.keep_learned(self._version, found)
        if failed:
            raise HarnessError(f"The run {failed[0].point} without a fault did not hold: {_why(failed[0])}")
        return {**known, **found}

    def _recalled(self, names: Sequence[str], version: str) -> dict[str, Learned]:
        """What this folder knows, and what the place remembers of scenarios that the folder does not know."""
        known = self._folder.learned(version)
        remembered = self._place.memory.learned(version) if self._place.memory is not None else {}
        recalled = {name: remembered[name] for name in names if name in remembered and name not in known}
        if recalled:
            self._folder.keep_learned(version, recalled)
        return {**known, **recalled}

    def _keep_authored(self, scenarios: Sequence[Scenario]) -> None:
        """Keep the scenarios that users brought, and make those known that this folder has."""
        for scenario in scenarios:
            if scenario.manifest is not None:
                authored.keep(self._folder.path, scenario)
        for scenario in authored.kept(self._folder.path):
            catalogue.register(scenario)

    def plan(self, order: Order) -> Plan:
        """Plan the runs of scenarios, learning first what is not known.

        Raises:
            HarnessError: A run without a fault failed.
        """
        learned = self.learn(order.scenarios, order.workers)
        subjects = [Subject(scenario, learned[scenario.name]) for scenario in order.scenarios]
        if not order.positions and self._place.upgrades:
            before = self._learn_before(planning.upgrading(subjects, everything=order.everything), order.workers)
            subjects = [replace(subject, before=before.get(subject.scenario.name)) for subject in subjects]
        plan = planning.plan(subjects, order.positions, everything=order.everything)
        points = plan.points if order.everything else tuple(self._place.subset(plan.points))
        return replace(plan, points=planning.shard(points, order.part, order.parts))

    def _learn_before(self, names: Sequence[str], workers: int | None) -> dict[str, Learned]:
        """What the release before writes, which an upgrade begins with.

        A scenario that it does not come to the end of, or that it breaks a promise in, is kept without writes.
        """
        known = self._recalled(names, BEFORE_UPGRADE)
        wanted = [name for name in names if name not in known]
        if not wanted:
            return known
        self._say(f"learning what the operator {BEFORE_UPGRADE} writes, for upgrades: {', '.join(wanted)}")
        outcomes = self._all([Point(name, upgrade=True) for name in wanted for _ in range(2)], workers)
        found = {}
        for name in wanted:
            own = [outcome for outcome in outcomes if outcome.point.scenario == name]
            if failed := [_why(outcome) for outcome in own if not outcome.held]:
                found[name] = Learned(name, len(own), (), {"the scenario": failed[0]})
            else:
                found[name] = learn(name, [outcome.recorded.events for outcome in own if outcome.recorded is not None])
        self._folder.keep_learned(BEFORE_UPGRADE, found)
        return {**known, **found}

    def run(self, order: Order) -> list[Verdict]:
        """Run the points of a plan that have no result yet.

        Returns:
            The verdicts of the whole plan, as far as it was run.

        Raises:
            HarnessError: A run without a fault failed, or the control plane did not come up.
        """
        plan = self.plan(order)
        left = missing(plan.points, self._folder.results(), self._version)
        if order.seconds is not None:
            left = list(coverage.ordered(left, SECONDS_PER_RUN, self._deviations_at))
        self._say(f"{len(plan.points)} runs planned, {len(plan.equivalent)} equivalent left out, {len(left)} to do")
        left_out = self._again(self._run(left, order), order)
        wanted = {str(point) for point in plan.points if point not in left_out}
        return [self._verdict(result) for result in self._folder.results() if str(result.point) in wanted]

    def _again(self, results: Sequence[Result], order: Order) -> list[Point]:
        """Make the runs with an error once more, fewer at a time.

        On a busy machine an operator writes at once what it else writes in two steps. A run whose write is not made
        the second time either is forgotten, and its write is known as one that is not always made.

        Returns:
            The points whose runs were forgotten.
        """
        errors = [result.point for result in results if result.error]
        if not errors or len(errors) > max(_FEW_ERRORS, len(results) // _ERRORS_OF):
            return []
        workers = max(1, (order.workers or self._place.workers) // 3)
        self._say(f"{len(errors)} of them had an error and are made once more, {workers} at a time")
        unmade = [
            result for result in self._run(errors, replace(order, workers=workers, seconds=None)) if result.unmade
        ]
        for result in unmade:
            self._folder.leave_out(result, BEFORE_UPGRADE if result.point.upgrade else self._version)
            self._say(f"{result.point} is left out: the write was not made, twice")
        return [result.point for result in unmade]

    def replay(self, point: Point) -> Verdict:
        """Run one point, whatever is known of it."""
        [result] = self._run([point], Order((), workers=1))
        return self._verdict(result)

    def _run(self, points: Sequence[Point], order: Order) -> list[Result]:
        if not points:
            return []
        started, results = time.monotonic(), list[Result]()

        def ended(result: Result) -> None:
            results.append(result)
            passed = time.monotonic() - started
            rest = passed / len(results) * (len(points) - len(results))
            judged = self._verdict(result)
            self._say(f"{len(results):>4}/{len(points)} {judged.state:8} {result.point}  ({rest:.0f} s to go)")
            if judged.state in (State.VIOLATED, State.ERROR):
                self._say(f"     {judged.seen}")

        self._all(points, order.workers, ended, order.seconds)
        return results

    def _all(
        self,
        points: Sequence[Point],
        workers: int | None,
        kept: Callable[[Result], None] = lambda _: None,
        seconds: float | None = None,
    ) -> list[Outcome]:
        """Run points and keep their results, on another control plane where one ends meanwhile."""
        left, outcomes, started = list(points), list[Outcome](), time.monotonic()

        def ended(outcome: Outcome) -> None:
            left.remove(outcome.point)
            outcomes.append(outcome)
            kept(self._kept(outcome))

        for _ in range(_RESTARTS + 1):
            rest = None if seconds is None else seconds - (time.monotonic() - started)
            try:
                sweep = self._open()
                sweep.ends = self._ends()
                sweep.all(left.copy(), workers=workers or self._place.workers, ended=ended, seconds=rest)
                return outcomes
            except ControlPlaneGone as error:
                self._say(f"{error} It is started again, and the runs that were going on are repeated.")
                self._close()
        raise HarnessError(
            f"The control plane has ended {_RESTARTS + 1} times. Look for what ends it, such as too little memory; "
            "what has a result is kept, and the same command goes on."
        )

    def _kept(self, outcome: Outcome) -> Result:
        spans = outcome.recorded.spans if outcome.recorded else {}
        try:
            files = self._folder.keep_files(outcome.point, outcome.folder) if outcome.folder.exists() else ""
            result = Result(
                *(outcome.point, self._version, round(outcome.seconds, 3), outcome.findings, outcome.error),
                *(spans, files, outcome.unmade),
            )
            self._folder.keep(result)
        except OSError as error:
            raise SweepError(no_space(self._folder.path, error)) from error
        return result

    def _ends(self) -> dict[str, EndState]:
        known = self._folder.learned(self._version)
        return {name: learned.end for name, learned in known.items() if learned.end.facts}

    def _deviations_at(self, point: Point) -> list[str]:
        return [entry.id for entry in self._known.concerning(str(point), "")]

    def _verdict(self, result: Result) -> Verdict:
        return verdict(result, self._known)

    def _open(self) -> Sweep:
        if self._sweep is None:
            state.sweep()
            run = self._stack.enter_context(state.claim(self._name))
            self._sweep = self._stack.enter_context(self._place.open(run))
        return self._sweep

    def _close(self) -> None:
        self._sweep = None
        self._stack.close()

    def _say(self, sentence: str) -> None:
        self._console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def _why(outcome: Outcome) -> str:
    return outcome.error or "; ".join(
        f"{finding.promise}: {finding.seen}" + (f" (expected {finding.expected})" if finding.expected else "")
        for finding in outcome.broken
    )
