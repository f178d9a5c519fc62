"""The sweep: many runs on one control plane, several at a time, each result kept as soon as it is there."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import httpx

from kuberay_e2e.clusters.embedded import ended_program
from kuberay_e2e.crash import catalogue, oracles
from kuberay_e2e.crash.difference import EndState
from kuberay_e2e.crash.execution import Execution, Recorded
from kuberay_e2e.crash.ground import Ground, RunScripts, SimulatedGround
from kuberay_e2e.crash.health import Health, SweepError, is_full, no_space
from kuberay_e2e.crash.judged import Judged
from kuberay_e2e.crash.learning import writes_of
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.slot import slot
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway.calls import Tamper
from kuberay_e2e.session import Programs, embedded
from kuberay_e2e.state import Run
from kuberay_e2e.verdicts import Finding

_TRIES = 3
_NOTICED_SECONDS = 0.6
"""After which the end of a program that made a run fail has been noticed."""


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
        unmade: Whether the operator did not make the write that was to be disturbed.
    """

    point: Point
    findings: tuple[Finding, ...]
    seconds: float
    folder: Path
    error: str = ""
    recorded: Recorded | None = None
    unmade: bool = False


class Sweep:
    """Runs points on a session.

    Args:
        ground: A cluster on which the operator is applied.
        programs: The operator's binaries.
        folder: Receives the files of each run.
        gone: The program of the control plane that has ended; empty while all live.

    Attributes:
        ends: The end states without a fault, by scenario, as far as they are known; disturbed runs are
            compared with them.
    """

    def __init__(self, ground: Ground, programs: Programs, folder: Path, gone: Callable[[], str] = lambda: "") -> None:
        self._ground = ground
        self._programs = programs
        self._folder = folder
        self._health = Health(folder, gone)
        self._numbers = iter(range(1, 1 << 30))
        self._lock = threading.Lock()
        self.ends: dict[str, EndState] = {}

    def run(self, point: Point, tamper: Tamper | None = None, patience: float | None = None) -> Outcome:
        """Run one point and judge it.

        How often a status is copied depends on the machine's load, so that a write that every run without a fault has
        made may not come; a run whose fault does not act is made again, three times at most.

        Args:
            point: The point.
            tamper: Stands in the path of the operator's calls; default: nothing.
            patience: Seconds that the scenario may take to its goal; default: its own.

        Raises:
            SweepError: The sweep cannot go on; nothing is known of the point.
        """
        for _ in range(_TRIES):
            outcome = self._once(point, tamper, patience)
            if outcome.recorded is None or outcome.recorded.fired:
                break
        return outcome

    def _once(self, point: Point, tamper: Tamper | None, patience: float | None) -> Outcome:
        started = time.monotonic()
        with self._lock:
            folder = self._folder / f"{next(self._numbers):04d}"
        try:
            self._health.check()
            return self._judged(point, folder, started, tamper, patience)
        except SweepError:
            raise
        except OSError as error:
            if is_full(error):
                raise SweepError(no_space(self._folder, error.strerror)) from error
            return self._failed(point, folder, started, repr(error))
        except HarnessError as error:
            return self._failed(point, folder, started, str(error))
        except (httpx.TransportError, aiohttp.ClientError) as error:
            return self._failed(point, folder, started, f"The API server did not answer: {error!r}")

    def _judged(
        self, point: Point, folder: Path, started: float, tamper: Tamper | None, patience: float | None
    ) -> Outcome:
        scenario = catalogue.BY_NAME[point.scenario]
        if patience is not None:
            scenario = replace(scenario, patience=patience)
        with (
            slot(self._ground, self._programs, folder, self._health.check) as place,
            closing(self._ground.stage(place.namespace, place.trace, scenario.script)) as stage,
        ):
            place.gateway.tamper(tamper)
            recorded = Execution(place, scenario, point, stage).run()
        disturbed = point.write is not None or tamper is not None
        end = self.ends.get(point.scenario) if disturbed else None
        findings = tuple(oracles.judge(scenario, recorded, end))
        unmade = not recorded.fired and point.write not in [write.selector for write in writes_of(recorded.events)]
        missed = "" if recorded.fired else _missed(point, unmade)
        (folder / "findings.json").write_text(json.dumps([finding.__dict__ for finding in findings], indent=2))
        ledger = "".join(json.dumps(entry.to_json()) + "\n" for entry in recorded.ledger)
        (folder / "ledger.jsonl").write_text(ledger)
        return Outcome(point, findings, time.monotonic() - started, folder, missed, recorded, unmade)

    def _failed(self, point: Point, folder: Path, started: float, why: str) -> Outcome:
        """A run that failed, unless that was because the sweep cannot go on."""
        time.sleep(_NOTICED_SECONDS)
        self._health.check()
        return Outcome(point, (), time.monotonic() - started, folder, why)

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

        Raises:
            SweepError: The sweep cannot go on; what has come out until then was given to `ended`.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        outcomes: list[Outcome] = []
        left = iter(points)
        running: set[Future[Outcome]] = set()
        with ThreadPoolExecutor(workers, thread_name_prefix="sweep") as pool:
            try:
                while True:
                    while len(running) < workers and (deadline is None or time.monotonic() < deadline):
                        point = next(left, None)
                        if point is None:
                            break
                        running.add(pool.submit(self.run, point))
                    if not running:
                        return outcomes
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in sorted(done, key=lambda future: future.exception() is not None):
                        outcomes.append(future.result())
                        ended(outcomes[-1])
            except BaseException:
                self._health.stop()
                raise


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
    with embedded(run, programs, script=scripts, submitter_fails=scripts.submitter_fails, output=output) as session:
        session.install()
        control_plane = run.path("cluster")
        yield Sweep(SimulatedGround(session, scripts), programs, run.path("runs"), lambda: ended_program(control_plane))


def _missed(point: Point, unmade: bool) -> str:
    why = f": the operator did not make {point.write}" if unmade else ""
    return f"The fault of {point} did not act, so that nothing was tested{why}."
