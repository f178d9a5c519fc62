"""A life cycle as the command line runs it: input first, then programs, then the cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from kuberay_e2e import console as output
from kuberay_e2e import report, state
from kuberay_e2e.gateway import faults
from kuberay_e2e.lifecycle import LifeCycle, Settings, Workload
from kuberay_e2e.ray.script import Script, always
from kuberay_e2e.session import OPERATOR_VERSION, PROGRAMS, Programs, RayKind, Session, embedded, operator_program
from kuberay_toolchain.toolchain import Toolchain

_SESSIONS = {"embedded": embedded}


@dataclass(frozen=True)
class Request:
    """What the user asked for; see the command line's help for the meaning."""

    manifests: tuple[Path, ...]
    cluster: str
    ray: str
    kill_at: str
    report: Path | None
    name: str
    ttl_seconds: int
    job_seconds: float


def lifecycle(request: Request, console: Console) -> int:
    """Run a life cycle and return its exit code.

    Raises:
        InputError: The request cannot be carried out as it is.
        HarnessError: The machine cannot carry it out.
        ToolchainError: A program is missing and cannot be built.
    """
    state.check_name(request.name)
    fault = faults.parse(request.kill_at)
    workload = Workload.read(request.manifests) if request.manifests else Workload.bundled()
    folder = report.prepare(request.report or state.state_folder() / "reports" / request.name)
    for sentence in state.sweep():
        console.print(sentence, highlight=False)
    programs = programs_of(Toolchain())
    progress = output.Progress(console)

    @contextmanager
    def session() -> Iterator[Session]:
        with state.claim(request.name) as run:
            script = always(Script(output=workload.expected_output or ("the simulated job ran",)))
            with _SESSIONS[request.cluster](
                run, programs, ray=RayKind(request.ray), script=script, output=progress.note
            ) as opened:
                yield opened

    cycle = LifeCycle(
        workload,
        Settings(fault, request.ttl_seconds, request.job_seconds),
        session,
        ray=request.ray,
        begun=progress.begun,
        ended=progress.ended,
        keep=lambda opened: report.keep_evidence(opened, folder),
    )
    try:
        result = cycle.run()
    finally:
        progress.close()
    report.write(result, folder)
    output.summary(console, result)
    console.print(f"Report: {folder}", highlight=False, soft_wrap=True)
    return result.exit_code


def programs_of(toolchain: Toolchain, *further_operators: str) -> Programs:
    """Find or build what a session on the embedded control plane needs.

    Args:
        toolchain: Finds and builds programs.
        further_operators: Versions of the operator beside the default one.

    Raises:
        ToolchainError: A program is missing and cannot be built.
    """
    versions = (OPERATOR_VERSION, *further_operators)
    paths = toolchain.ensure(*PROGRAMS, *map(operator_program, further_operators))
    return Programs(paths, {version: toolchain.files(operator_program(version)) for version in versions})
