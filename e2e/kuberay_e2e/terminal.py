"""What the commands share: where they write, and the options that several of them have."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console

from kuberay_e2e.errors import InputError

_PLAIN_WIDTH = 140
"""Columns of tables that go to a file or a CI log."""

ReportFolder = Annotated[
    Path | None, typer.Option("--report", metavar="DIR", help="Report folder; default: below the state folder.")
]

Listed = Annotated[bool, typer.Option("--list", help="Say which scenarios there are, and end.")]


class OperatorChoice(StrEnum):
    """How the operator runs where pods are real."""

    POD = "pod"
    LOCAL = "local"


def terminal(file: TextIO | None = None, *, plain_width: int = _PLAIN_WIDTH) -> Console:
    """A console of the terminal's width, or of a fixed one where the output goes elsewhere.

    Args:
        file: Where it writes; default: standard output.
        plain_width: Columns where that is no terminal.
    """
    file = file or sys.stdout
    return Console(file=file, width=None if file.isatty() else plain_width)


def agree(yes: bool, said: str) -> bool:
    """Show what will be done on the user's cluster, and ask.

    Args:
        yes: The user has agreed already.
        said: What will be done.

    Raises:
        InputError: There is no terminal to ask on.
    """
    print(said, flush=True)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InputError("Nothing was done on the cluster, because there is no terminal to ask you on. Agree by --yes.")
    return typer.confirm("Go on?", default=False)
