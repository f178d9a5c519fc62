"""`kuberay-e2e faults`: faults that only a real cluster has, on kind, with a report of what came of each."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

_PLAIN_WIDTH = 140


class ClusterKind(StrEnum):
    """Clusters whose nodes can be reached, as these faults need."""

    KIND = "kind"


def faults(
    cluster: Annotated[  # noqa: ARG001
        ClusterKind, typer.Option(help="Where they are injected; their nodes have to be reached.")
    ] = ClusterKind.KIND,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this scenario, or this in one mode: NAME[MODE]; may be repeated."),
    ] = None,
    report_folder: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Report folder; default: below the state folder.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Say which scenarios there are, and end.")] = False,
) -> None:
    """Kill pods, drain a node, cut the network, kill the API server: what becomes of a RayJob on a real cluster."""
    from kuberay_e2e.clusterfaults import runs

    console = Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    if listed:
        console.print(runs.table())
        return
    raise typer.Exit(runs.run(tuple(scenario or ()), report_folder, console))
