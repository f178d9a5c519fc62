"""`kuberay-e2e kueue`: RayJobs in Kueue's queues, with a report of what came of each scenario."""

from enum import StrEnum
from typing import Annotated

import typer

from kuberay_e2e.terminal import Listed, OperatorChoice, ReportFolder, terminal


class ClusterChoice(StrEnum):
    """Where the scenarios run."""

    EMBEDDED = "embedded"
    KIND = "kind"


def kueue(
    cluster: Annotated[ClusterChoice, typer.Option(help="Where they run.")] = ClusterChoice.EMBEDDED,
    operator: Annotated[
        OperatorChoice, typer.Option(help="How the operator runs on kind: in its pod, or behind the gateway.")
    ] = OperatorChoice.POD,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this scenario, or those of a pattern with *; may be repeated."),
    ] = None,
    report_folder: ReportFolder = None,
    listed: Listed = False,
) -> None:
    """Preemption, gangs, quota that comes back, Kueue away, the operator killed: what becomes of queued RayJobs."""
    from kuberay_e2e.queueing import runs
    from kuberay_e2e.session import OperatorKind

    console = terminal()
    if listed:
        console.print(runs.table())
        return
    code = runs.run(cluster, OperatorKind(operator), tuple(scenario or ()), report_folder, console)
    raise typer.Exit(code)
