"""A run of scenarios as the command line does it: programs and images first, then the cluster, then the report."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kuberay_e2e import report, state
from kuberay_e2e.deviations import Deviations
from kuberay_e2e.queueing.command import ClusterChoice
from kuberay_e2e.queueing.registry import SCENARIOS, select
from kuberay_e2e.queueing.runner import KUEUE_VERSION, play
from kuberay_e2e.queueing.workloads import IMAGE, script
from kuberay_e2e.scenario_runs import facts_of, telling
from kuberay_e2e.session import OPERATOR, OPERATOR_VERSION, OperatorKind, Session, embedded, kind
from kuberay_e2e.state import Run
from kuberay_e2e.targets import fault_on, kind_needs, programs_of
from kuberay_e2e.verdicts import exit_code, write_report
from kuberay_toolchain.toolchain import Toolchain

TITLE = "RayJobs in Kueue's queues"

_KUEUE = "kueue"
"""Name of Kueue's program, and of its image, in the toolchain."""


def run(
    cluster: ClusterChoice, operator: OperatorKind, patterns: tuple[str, ...], folder: Path | None, console: Console
) -> int:
    """Run scenarios and return the exit code.

    Args:
        cluster: Where they run.
        operator: How the operator runs where pods are real.
        patterns: Scenarios by name or pattern; empty: all that are not for being named.
        folder: Report folder; None: below the state folder.
        console: Where to write.

    Raises:
        InputError: There is no scenario of a name, or its kill cannot act on this operator.
        HarnessError: The machine cannot carry it out.
        ToolchainError: A program or an image is missing and cannot be made.
    """
    scenarios = select(patterns, real=cluster is ClusterChoice.KIND)
    if cluster is ClusterChoice.KIND:
        for scenario in scenarios:
            if scenario.kill_at:
                fault_on(operator, scenario.kill_at)
    name = state.free_name("kueue")
    folder = report.prepare(folder or state.state_folder() / "reports" / name)
    for sentence in state.sweep():
        console.print(sentence, highlight=False)
    toolchain = Toolchain()
    open_session = _opener(cluster, operator, toolchain)
    started = time.monotonic()
    with state.claim(name) as claimed, open_session(claimed) as session:
        install(session, toolchain)
        ready = time.monotonic() - started
        console.print(f"{cluster} cluster with Kueue and the KubeRay operator, {ready:.0f} s", highlight=False)
        try:
            ray = "simulated" if session.cluster.simulated_pods else IMAGE
            facts = {"Kueue": KUEUE_VERSION, **facts_of(session, ray=ray, cluster=cluster)}
            known = known_deviations()
            verdicts = play(session, scenarios, known, remove=False, ended=telling(console, 52))
        finally:
            report.keep_evidence(session, folder)
    whole = f"{time.monotonic() - started:.0f} s, {ready:.0f} s of them for cluster, Kueue and operator"
    write_report(folder, TITLE, verdicts, {**facts, "time": whole})
    console.print(f"Report: {folder}", highlight=False, soft_wrap=True)
    return exit_code(verdicts)


def install(session: Session, toolchain: Toolchain) -> None:
    """Apply KubeRay's CRDs, then Kueue, then the operator, whose pod Kueue's webhooks look at, and start both.

    Kueue looks for the CRDs of RayJobs when it starts; afterwards it looks again with growing pauses.

    Raises:
        HarnessError: Pulumi failed, or one of them did not start.
        ToolchainError: Kueue's program is missing and cannot be built.
    """
    program = toolchain.ensure(_KUEUE)[_KUEUE] if session.cluster.simulated_pods else None
    crds = toolchain.files(OPERATOR) / "config" / "crd" / "bases"
    session.stacks.crds.apply({"throwaway": True, "crds": {"folder": str(crds)}})
    session.install_kueue(program, toolchain.files(_KUEUE) / "chart")
    session.install()
    session.start_operator()


def known_deviations() -> Deviations:
    """The known deviations of the versions that the scenarios use."""
    return Deviations.of(kuberay=OPERATOR_VERSION, kueue=KUEUE_VERSION)


def table() -> Table:
    """What there is to run."""
    found = Table("scenario", "runs")
    found.add_column("what happens", overflow="fold")
    for item in SCENARIOS.values():
        found.add_row(item.name, "when named" if item.further else "by default", item.doc)
    return found


def _opener(
    cluster: ClusterChoice, operator: OperatorKind, toolchain: Toolchain
) -> Callable[[Run], AbstractContextManager[Session]]:
    if cluster is ClusterChoice.EMBEDDED:
        programs = programs_of(toolchain)
        return lambda claimed: embedded(claimed, programs, script=script)
    programs, images = kind_needs(toolchain, operator, _KUEUE)
    return lambda claimed: kind(claimed, programs, images, operator=operator)
