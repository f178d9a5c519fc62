"""A run of scenarios as the command line does it: programs and images first, then the cluster, then the report."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kuberay_e2e import report, state
from kuberay_e2e.clusterfaults import suite
from kuberay_e2e.clusterfaults.registry import chosen
from kuberay_e2e.clusterfaults.workload import IMAGE
from kuberay_e2e.clusters import requirements
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.operator_process import OperatorSpec
from kuberay_e2e.session import OPERATOR, OperatorKind, Session, kind
from kuberay_e2e.targets import kind_images, kind_programs
from kuberay_e2e.verdicts import State, Verdict, exit_code, write_report
from kuberay_toolchain.images import Images
from kuberay_toolchain.toolchain import Toolchain

TITLE = "Faults of a real cluster"

_MARKS = {
    State.HELD: "[green]held[/]",
    State.DEVIATES: "[yellow]deviates[/]",
    State.VIOLATED: "[red]VIOLATED[/]",
    State.ERROR: "[red]ERROR[/]",
}


def run(names: tuple[str, ...], folder: Path | None, console: Console) -> int:
    """Run scenarios on a kind cluster and return the exit code.

    Args:
        names: Scenarios by name, or by name and mode; empty: all.
        folder: Report folder; None: below the state folder.
        console: Where to write.

    Raises:
        InputError: There is no scenario of a name.
        HarnessError: The machine cannot carry it out.
        ToolchainError: A program or an image is missing and cannot be made.
    """
    scenarios = chosen(names)
    name = state.free_name("faults")
    folder = report.prepare(folder or state.state_folder() / "reports" / name)
    for sentence in state.sweep():
        console.print(sentence, highlight=False)
    engine = ContainerEngine.detect()
    toolchain = Toolchain()
    requirements.demand(Images(toolchain))
    programs = kind_programs(toolchain, OperatorKind.POD)
    images = kind_images(toolchain, OperatorKind.POD)
    started = time.monotonic()
    nodes = max(item.nodes for item in scenarios)
    with state.claim(name) as claimed, kind(claimed, programs, images, nodes=nodes) as session:
        session.install()
        session.start_operator()
        ready = time.monotonic() - started
        console.print(f"kind cluster of {nodes} nodes with the KubeRay operator, {ready:.0f} s", highlight=False)
        try:
            facts = facts_of(session, engine, nodes)
            verdicts = suite.run(session, scenarios, ended=lambda verdict: _show(console, verdict))
        finally:
            report.keep_evidence(session, folder)
    whole = f"{time.monotonic() - started:.0f} s, {ready:.0f} s of them for cluster and operator"
    write_report(folder, TITLE, verdicts, {**facts, "time": whole})
    console.print(f"Report: {folder}", highlight=False, soft_wrap=True)
    return exit_code(verdicts)


def table() -> Table:
    """What there is to run."""
    found = Table("scenario", "mode")
    found.add_column("what is done", overflow="fold")
    for item in chosen(()):
        found.add_row(item.name, item.mode, item.doc)
    return found


def facts_of(session: Session, engine: ContainerEngine, nodes: int) -> Mapping[str, str]:
    """What a run is made with."""
    with session.access.client() as client:
        kubernetes = client.get("/version").json()["gitVersion"]
    return {
        "KubeRay operator": OperatorSpec.read(session.access, session.operator_namespace, OPERATOR).version,
        "Ray": IMAGE,
        "Kubernetes": f"{kubernetes}, kind, {nodes} nodes in {engine.name} {engine.version}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _show(console: Console, verdict: Verdict) -> None:
    deviations = f"  {', '.join(verdict.deviation)}" if verdict.deviation else ""
    console.print(f"{verdict.name:40} {_MARKS[verdict.state]} {verdict.seconds:6.1f} s{deviations}", highlight=False)
    if verdict.state in (State.VIOLATED, State.ERROR):
        console.print(f"   {verdict.seen}", style="red", markup=False, highlight=False, soft_wrap=True)
