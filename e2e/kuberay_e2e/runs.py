"""A life cycle as the command line runs it: input first, then programs, then the cluster."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from kuberay_e2e import console as output
from kuberay_e2e import report, state
from kuberay_e2e.lifecycle import LifeCycle, Settings, Workload
from kuberay_e2e.session import Session
from kuberay_e2e.targets import Target, programs_of

__all__ = ["Request", "lifecycle", "programs_of"]


@dataclass(frozen=True)
class Request:
    """What the user asked for; see the command line's help for the meaning."""

    manifests: tuple[Path, ...]
    target: Target
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
    target = request.target
    real = target.real_pods
    workload = Workload.read(request.manifests, real_pods=real) if request.manifests else Workload.bundled()
    workload = target.placed(workload)
    fault = target.fault(request.kill_at, workload)
    folder = report.prepare(request.report or state.state_folder() / "reports" / request.name)
    for sentence in state.sweep():
        console.print(sentence, highlight=False)
    target.prepare(workload)
    progress = output.Progress(console)

    @contextmanager
    def session() -> Iterator[Session]:
        with state.claim(request.name) as run, target.open(run, workload, progress.note) as opened:
            yield opened

    cycle = LifeCycle(
        workload,
        Settings(fault, request.ttl_seconds, request.job_seconds),
        session,
        ray=target.ray,
        begun=progress.begun,
        ended=progress.ended,
        keep=lambda opened: report.keep_evidence(opened, folder),
    )
    try:
        result = dataclasses.replace(cycle.run(), notes=target.notes())
    finally:
        progress.close()
    report.write(result, folder)
    output.summary(console, result)
    console.print(f"Report: {folder}", highlight=False, soft_wrap=True)
    return result.exit_code
