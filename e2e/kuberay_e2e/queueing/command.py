"""`kuberay-e2e kueue`: RayJobs in Kueue's queues, with a report of what came of each scenario."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

_PLAIN_WIDTH = 140


class ClusterChoice(StrEnum):
    """Where the scenarios run."""

    EMBEDDED = "embedded"
    KIND = "kind"


class OperatorChoice(StrEnum):
    """How the operator runs where pods are real."""

    POD = "pod"
    LOCAL = "local"


def kueue(
    cluster: Annotated[ClusterChoice, typer.Option(help="Where they run.")] = ClusterChoice.EMBEDDED,
    operator: Annotated[
        OperatorChoice, typer.Option(help="How the operator runs on kind: in its pod, or behind the gateway.")
    ] = OperatorChoice.POD,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this scenario, or those of a pattern with *; may be repeated."),
    ] = None,
    report_folder: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Report folder; default: below the state folder.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Say which scenarios there are, and end.")] = False,
) -> None:
    """Preemption, gangs, quota that comes back, Kueue away, the operator killed: what becomes of queued RayJobs."""
    from kuberay_e2e.queueing import runs
    from kuberay_e2e.session import OperatorKind

    console = Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    if listed:
        console.print(runs.table())
        return
    code = runs.run(runs.ClusterKind(cluster), OperatorKind(operator), tuple(scenario or ()), report_folder, console)
    raise typer.Exit(code)
