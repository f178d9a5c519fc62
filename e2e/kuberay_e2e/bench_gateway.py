"""What the gateway costs: the same RayJob with an operator behind it, and with one that speaks to the API server."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kuberay_e2e import processes, state
from kuberay_e2e.api import KINDS
from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash.ground import RunScripts, SimulatedGround
from kuberay_e2e.crash.manifest import rayjob
from kuberay_e2e.crash.slot import NAME, Slot, slot
from kuberay_e2e.figures import Figure
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.network import free_ports
from kuberay_e2e.operator_process import OperatorSpec, is_ready
from kuberay_e2e.runs import programs_of
from kuberay_e2e.session import OPERATOR, Session, embedded
from kuberay_e2e.session.programs import Programs
from kuberay_toolchain.toolchain import Toolchain

_SCENARIO = "interactive"
"""In InteractiveMode the operator asks Ray nothing until a user has submitted, so that it needs no gateway to wait."""

_PAIRS = 12
_PATIENCE = 60.0
_PAUSE = 0.005


def figures(_runs: int = 1) -> list[Figure]:
    """Measure how much longer a RayJob takes from its creation to Waiting, in turns on one control plane.

    Raises:
        VerificationError: A RayJob does not come to wait, or an operator does not become ready.
    """
    programs = programs_of(Toolchain())
    behind, direct = list[float](), list[float]()
    with state.claim(state.free_name("bench")) as run, embedded(run, programs) as session:
        session.install()
        ground = SimulatedGround(session, RunScripts())
        for number in range(_PAIRS):
            with slot(ground, programs, run.path(f"behind-{number}")) as place:
                place.operators.make().start()
                behind.append(_seconds_to_wait(place))
            folder = run.path(f"direct-{number}")
            with slot(ground, programs, folder) as place, _straight(session, programs, place.namespace, folder):
                direct.append(_seconds_to_wait(place))
    with_it, without = statistics.median(behind), statistics.median(direct)
    note = f"{with_it:.2f} s with it, {without:.2f} s without, from creation to Waiting; medians of {_PAIRS} each"
    return [Figure("overhead of the gateway", 100 * (with_it / without - 1), 5, "%", note)]


def _seconds_to_wait(place: Slot) -> float:
    started = time.monotonic()
    place.create(rayjob(catalogue.BY_NAME[_SCENARIO], place.namespace))
    path = f"{KINDS['RayJob'].format(namespace=place.namespace)}/{NAME}"

    def waiting() -> float:
        status = place.client.get(path).json().get("status") or {}
        if status.get("jobDeploymentStatus") != "Waiting":
            raise NotYetError(str(status))
        return time.monotonic() - started

    return wait_for("the RayJob to be Waiting", waiting, seconds=_PATIENCE, pause=_PAUSE)


@contextmanager
def _straight(session: Session, programs: Programs, namespace: str, folder: Path) -> Iterator[None]:
    """An operator that speaks to the API server itself, and looks at one namespace."""
    applied = OperatorSpec.read(session.access, session.operator_namespace, OPERATOR)
    spec = replace(applied, args=(*applied.args, f"--watch-namespace={namespace}"))
    metrics, probe = free_ports(2)
    command = spec.command(programs.operator(spec.version), metrics, probe)
    environment = spec.environment(folder, session.cluster.kubeconfig)
    log = folder / "straight.log"

    def ready() -> None:
        if not is_ready(probe):
            raise NotYetError(log.read_text(errors="replace")[-1000:])

    process = processes.spawn(command, marker=session.run.marker, log=log, env=environment)
    try:
        wait_for("the operator to be ready", ready, seconds=_PATIENCE, pause=_PAUSE)
        yield
    finally:
        processes.end(process)
