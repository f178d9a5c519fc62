"""`kuberay-e2e faults`: faults that only a real cluster has, on kind, with a report of what came of each."""

from enum import StrEnum
from typing import Annotated

import typer

from kuberay_e2e.terminal import Listed, ReportFolder, terminal


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
    report_folder: ReportFolder = None,
    listed: Listed = False,
) -> None:
    """Kill pods, drain a node, cut the network, kill the API server: what becomes of a RayJob on a real cluster."""
    from kuberay_e2e.clusterfaults import runs

    console = terminal()
    if listed:
        console.print(runs.table())
        return
    raise typer.Exit(runs.run(tuple(scenario or ()), report_folder, console))
