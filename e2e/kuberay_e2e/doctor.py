"""`kuberay-e2e doctor`: what this machine has, lacks and can make, for the embedded cluster and for kind."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from kuberay_e2e.terminal import terminal
from kuberay_toolchain import doctor as examination
from kuberay_toolchain.doctor import Finding
from kuberay_toolchain.images import Images
from kuberay_toolchain.programs import usual_names
from kuberay_toolchain.toolchain import Toolchain


class Examined(StrEnum):
    """The cluster providers that need something of the machine."""

    EMBEDDED = "embedded"
    KIND = "kind"


def doctor(
    cluster: Annotated[Examined, typer.Option(help="What must be possible here.")] = Examined.EMBEDDED,
) -> None:
    """Say what is there, what is made when it is first needed, and what is missing, with the remedy."""
    from kuberay_e2e.clusters import requirements
    from kuberay_e2e.clusters.kind import PROGRAMS as KIND_PROGRAMS

    toolchain = Toolchain()
    console = terminal()
    kind = requirements.examine(requirements.gather(Images(toolchain)))
    names = usual_names(toolchain.programs)
    needed = list(dict.fromkeys([*names, *KIND_PROGRAMS])) if cluster is Examined.KIND else names
    programs = examination.examine(toolchain, needed)
    optional = cluster is not Examined.KIND
    console.print(_table(programs, ""))
    console.print(_table(kind, "for --cluster kind" + (", which is optional" if optional else "")))
    raise typer.Exit(examination.exit_code(programs if optional else [*programs, *kind]))


def _table(findings: Iterable[Finding], title: str) -> Table:
    table = Table("what", "wanted", "state", title=title or None, title_justify="left")
    for column in ("where", "what to do"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        table.add_row(finding.subject, finding.wanted, finding.state, finding.where, finding.advice)
    return table
