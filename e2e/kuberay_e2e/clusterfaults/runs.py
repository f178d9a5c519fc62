"""A run of scenarios as the command line does it: programs and images first, then the cluster, then the report."""

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kuberay_e2e import report, state
from kuberay_e2e.clusterfaults import suite
from kuberay_e2e.clusterfaults.registry import chosen
from kuberay_e2e.clusterfaults.workload import IMAGE
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.scenario_runs import facts_of, telling
from kuberay_e2e.session import OperatorKind, kind
from kuberay_e2e.targets import kind_needs
from kuberay_e2e.verdicts import exit_code, write_report
from kuberay_toolchain.toolchain import Toolchain

TITLE = "Faults of a real cluster"


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
    programs, images = kind_needs(Toolchain(), OperatorKind.POD)
    engine = ContainerEngine.detect()
    started = time.monotonic()
    nodes = max(item.nodes for item in scenarios)
    with state.claim(name) as claimed, kind(claimed, programs, images, nodes=nodes) as session:
        session.install()
        session.start_operator()
        ready = time.monotonic() - started
        console.print(f"kind cluster of {nodes} nodes with the KubeRay operator, {ready:.0f} s", highlight=False)
        try:
            cluster = f"kind, {nodes} nodes in {engine.name} {engine.version}"
            facts = facts_of(session, ray=IMAGE, cluster=cluster)
            verdicts = suite.run(session, scenarios, ended=telling(console, 40))
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
