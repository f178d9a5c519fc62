"""Commands that look at sweeps, and at the harness itself: `report`, `fidelity`, `mutants`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kuberay_e2e import state
from kuberay_e2e.terminal import ReportFolder, terminal

DEFAULT_FOLDER = "default"
"""Name of the folder below the state folder that a sweep is kept in unless another is given."""


def folder_of(report: Path | None) -> Path:
    """The folder of a sweep."""
    return report or state.state_folder() / "sweeps" / DEFAULT_FOLDER


def report(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER…]", help="Sweeps that are put together first, such as the parts of shards."),
    ] = None,
    report_folder: ReportFolder = None,
    track_record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the track record to this file, too.")
    ] = None,
) -> None:
    """Write the report of a sweep: a page, JUnit XML, JSON and a summary."""
    from kuberay_e2e.crash.report import merge, read, suspicions, write
    from kuberay_e2e.crash.report.track_record import document
    from kuberay_e2e.crash.store import SweepFolder

    target = folder_of(report_folder)
    found = read(merge(folders, target) if folders else SweepFolder(target))
    print(f"Report: {write(found)}")
    if track_record is not None:
        track_record.write_text(document(found, suspicions.read()), encoding="utf-8")
    raise typer.Exit(found.exit_code)


def fidelity(
    simulated: Annotated[Path, typer.Argument(help="Folder of a sweep on simulated pods.")],
    real: Annotated[Path, typer.Argument(help="Folder of a sweep on real pods.")],
) -> None:
    """Compare what simulated and real pods show: writes, verdicts, states; 1 where a difference is not explained."""
    from kuberay_e2e.crash.fidelity import compare, explanations, markdown
    from kuberay_e2e.crash.store import SweepFolder
    from kuberay_e2e.session import OPERATOR_VERSION

    found = compare(SweepFolder(simulated), SweepFolder(real), OPERATOR_VERSION, explanations())
    sys.stdout.write(markdown(found))
    raise typer.Exit(int(bool(found.unexplained)))


def mutants(
    runs: Annotated[int, typer.Option(min=0, help="Runs without a fault, none of which may report anything.")] = 30,
    workers: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = 4,
) -> None:
    """Make the operator wrong at the gateway in every way that is known, and see that an oracle notices each."""
    from kuberay_e2e.crash.mutation import kill_table, undisturbed
    from kuberay_e2e.crash.places import EMBEDDED

    console = terminal(sys.stderr, plain_width=200)
    state.sweep()
    with state.claim(state.free_name("mutants")) as run, EMBEDDED.open(run) as sweep:
        table = kill_table(sweep, workers=workers, told=lambda text: console.print(text, highlight=False, markup=False))
        sys.stdout.write(table.markdown())
        alarms = [outcome for outcome in undisturbed(sweep, runs=runs, workers=workers) if not outcome.held]
    for outcome in alarms:
        print(f"false alarm: {outcome.error or outcome.broken}")
    print(f"{runs} runs without a fault, {len(alarms)} of them with a report.")
    raise typer.Exit(int(bool(alarms) or not table.complete))
