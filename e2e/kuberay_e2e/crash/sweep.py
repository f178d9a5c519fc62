"""The sweep: many runs on one control plane, several at a time, each result kept as soon as it is there."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e.crash import catalogue, oracles
from kuberay_e2e.crash.execution import Execution, Recorded
from kuberay_e2e.crash.ground import Ground, RunScripts, SimulatedGround
from kuberay_e2e.crash.judged import Judged
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.slot import slot
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.session import Programs, embedded
from kuberay_e2e.state import Run
from kuberay_e2e.verdicts import Finding


@dataclass(frozen=True)
class Outcome(Judged):
    """How a run came out.

    Attributes:
        point: Where the scenario was disturbed.
        findings: What each oracle found; empty where the run itself failed.
        seconds: How long it took, with the making of its namespace and operator.
        folder: Its files, in the session's own folder.
        error: Why there is nothing to judge; empty where there is.
        recorded: What was recorded; None after an error.
    """

    point: Point
    findings: tuple[Finding, ...]
    seconds: float
    folder: Path
    error: str = ""
    recorded: Recorded | None = None


class Sweep:
    """Runs points on a session.

    Args:
        ground: A cluster on which the operator is applied.
        programs: The operator's binaries.
        folder: Receives the files of each run.
    """

    def __init__(self, ground: Ground, programs: Programs, folder: Path) -> None:
        self._ground = ground
        self._programs = programs
        self._folder = folder
        self._numbers = iter(range(1, 1 << 30))
        self._lock = threading.Lock()

    def run(self, point: Point) -> Outcome:
        """Run one point and judge it."""
        started = time.monotonic()
        scenario = catalogue.BY_NAME[point.scenario]
        with self._lock:
            folder = self._folder / f"{next(self._numbers):04d}"
        try:
            with (
                slot(self._ground, self._programs, folder) as place,
                closing(self._ground.stage(place.namespace, place.trace, scenario.script)) as stage,
            ):
                recorded = Execution(place, scenario, point, stage).run()
        except HarnessError as error:
            return Outcome(point, (), time.monotonic() - started, folder, str(error))
        findings = tuple(oracles.judge(scenario, recorded))
        missed = "" if recorded.fired else f"The write {point.write} was never made, so that nothing was tested."
        (folder / "findings.json").write_text(json.dumps([finding.__dict__ for finding in findings], indent=2))
        ledger = "".join(json.dumps(entry.to_json()) + "\n" for entry in recorded.ledger)
        (folder / "ledger.jsonl").write_text(ledger)
        return Outcome(point, findings, time.monotonic() - started, folder, missed, recorded)

    def all(
        self,
        points: Sequence[Point],
        *,
        workers: int,
        ended: Callable[[Outcome], None] = lambda _: None,
        seconds: float | None = None,
    ) -> list[Outcome]:
        """Run many points, several at a time.

        Args:
            points: The points, in order.
            workers: How many run at a time.
            ended: Called with each outcome as it comes.
            seconds: No run is begun after so many; default: all are run.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        outcomes: list[Outcome] = []
        left = iter(points)
        running: set[Future[Outcome]] = set()
        with ThreadPoolExecutor(workers, thread_name_prefix="sweep") as pool:
            while True:
                while len(running) < workers and (deadline is None or time.monotonic() < deadline):
                    point = next(left, None)
                    if point is None:
                        break
                    running.add(pool.submit(self.run, point))
                if not running:
                    return outcomes
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    outcomes.append(future.result())
                    ended(outcomes[-1])


@contextmanager
def sweeping(run: Run, programs: Programs, output: Callable[[str], None] = lambda _: None) -> Iterator[Sweep]:
    """A control plane with CRDs and operator applied, ready for runs.

    Args:
        run: Owns folders and processes.
        programs: Where the programs are.
        output: Receives what Pulumi prints.

    Raises:
        HarnessError: Something did not come up.
    """
    scripts = RunScripts()
    with embedded(run, programs, script=scripts, output=output) as session:
        session.install()
        yield Sweep(SimulatedGround(session, scripts), programs, run.path("runs"))
