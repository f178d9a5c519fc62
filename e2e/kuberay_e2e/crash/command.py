"""`kuberay-e2e crash`: disturb the operator at every write of a scenario, and judge what it left."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kuberay_e2e import state
from kuberay_e2e.crash.budget import seconds_of
from kuberay_e2e.crash.indexed.command import job
from kuberay_e2e.crash.inspection import fidelity, folder_of, mutants, report
from kuberay_e2e.errors import InputError
from kuberay_e2e.queueing.command import ClusterChoice
from kuberay_e2e.terminal import ReportFolder, terminal

if TYPE_CHECKING:
    from kuberay_e2e.crash.campaign import Campaign, Order
    from kuberay_e2e.crash.point import Point
    from kuberay_e2e.gateway import Position
    from kuberay_e2e.verdicts import Verdict

app = typer.Typer(no_args_is_help=True, help=__doc__, rich_markup_mode=None)

app.command()(report)
app.command()(fidelity)
app.command()(mutants)
app.command()(job)

Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario", metavar="NAME|FILE", help="Only this scenario, or the RayJob of this manifest; may be repeated."
    ),
]
Positions = Annotated[
    list[str] | None,
    typer.Option(
        "--position", metavar="POSITION", help="Only this position; may be repeated; default: the whole plan."
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="Run what is equivalent too, and variants at every write.")]
Shard = Annotated[str, typer.Option(metavar="I/N", help="Only part I of N.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="How many runs at a time; default: 6, and 2 where pods are real.")
]
Cluster = Annotated[
    ClusterChoice,
    typer.Option(help="Where runs take place: on simulated pods, or with a part of the plan on a real kind cluster."),
]


@app.command("scenarios")
def list_scenarios() -> None:
    """Say which scenarios there are."""
    from kuberay_e2e.crash import catalogue

    for scenario in catalogue.SCENARIOS:
        print(f"{scenario.name:20} {scenario.sentence}")


@app.command()
def learn(
    scenario: Scenarios = None,
    workers: Workers = None,
    cluster: Cluster = ClusterChoice.EMBEDDED,
    report_folder: ReportFolder = None,
) -> None:
    """Run scenarios without a fault, and say which writes are the same in every run."""
    order = _order(scenario, None, False, workers, "1/1", None, cluster)
    with _campaign(report_folder, cluster) as campaign:
        for name, learned in campaign.learn(order.scenarios, workers, anew=True).items():
            print(f"{name}: {len(learned.writes)} writes in each of {learned.runs} runs")
            for write in learned.writes:
                print(f"  {write}")
            for write_name, why in learned.unstable.items():
                print(f"  left out: {write_name}: {why}")


@app.command()
def plan(
    scenario: Scenarios = None,
    position: Positions = None,
    everything: Everything = False,
    shard: Shard = "1/1",
    workers: Workers = None,
    cluster: Cluster = ClusterChoice.EMBEDDED,
    report_folder: ReportFolder = None,
) -> None:
    """Say what would be run."""
    order = _order(scenario, position, everything, workers, shard, None, cluster)
    with _campaign(report_folder, cluster) as campaign:
        planned = campaign.plan(order)
    for point in planned.points:
        print(point)
    for entry in planned.equivalent:
        print(f"left out: {entry.point} is equivalent to {entry.same}")
    for reason, count in Counter(entry.reason for entry in planned.equivalent).items():
        print(f"{count} left out: {reason}")
    for fault, count in Counter(_fault(point) for point in planned.points).items():
        print(f"{count:>5} {fault}")
    print(f"{len(planned.points):>5} runs")


@app.command()
def run(
    scenario: Scenarios = None,
    position: Positions = None,
    everything: Everything = False,
    shard: Shard = "1/1",
    workers: Workers = None,
    cluster: Cluster = ClusterChoice.EMBEDDED,
    time_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Run what covers most in this time, such as 90s or 5m.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was run into this folder before.")] = False,
    report_folder: ReportFolder = None,
) -> None:
    """Run what has no result yet, and write the report: an interrupted sweep goes on in its folder."""
    from kuberay_e2e.crash.report import read, write
    from kuberay_e2e.crash.store import SweepFolder
    from kuberay_e2e.verdicts import exit_code

    order = _order(scenario, position, everything, workers, shard, time_budget, cluster)
    folder = SweepFolder(folder_of(report_folder))
    if fresh:
        folder.clear()
    try:
        with _campaign(report_folder, cluster) as campaign:
            verdicts = campaign.run(order)
    finally:
        if folder.is_sweep:
            print(f"Report: {write(read(folder))}")
    _tell(verdicts)
    raise typer.Exit(exit_code(verdicts))


@app.command()
def replay(
    point: Annotated[str, typer.Argument(help="The run, as `plan` and reports write it.")],
    cluster: Cluster = ClusterChoice.EMBEDDED,
    report_folder: ReportFolder = None,
) -> None:
    """Run one point again, exactly."""
    from kuberay_e2e.crash import catalogue
    from kuberay_e2e.crash import point as points
    from kuberay_e2e.verdicts import exit_code

    parsed = points.parse(point)
    with _campaign(report_folder, cluster) as campaign:
        catalogue.select([parsed.scenario])
        verdict = campaign.replay(parsed)
    for finding in verdict.findings:
        print(f"{'held  ' if finding.held else 'BROKEN'} {finding.promise}: {finding.seen}")
    print(f"{verdict.state}: {verdict.seen}")
    raise typer.Exit(exit_code([verdict]))


def _fault(point: "Point") -> str:
    return "".join((f"@{point.position}", *(f"+{name}" for name in point.variants)))


def _tell(verdicts: "list[Verdict]") -> None:
    from kuberay_e2e.crash.report import commands
    from kuberay_e2e.verdicts import State

    for verdict in verdicts:
        if verdict.state in (State.VIOLATED, State.ERROR):
            print(f"replay: {commands.replay(verdict.scenario)}")
    counts = (f"{sum(verdict.state is state for verdict in verdicts)} {state}" for state in State)
    print(f"{len(verdicts)} runs: {', '.join(counts)}.")


def _campaign(report_folder: Path | None, cluster: ClusterChoice = ClusterChoice.EMBEDDED) -> "Campaign":
    from kuberay_e2e.crash import authored, catalogue, places
    from kuberay_e2e.crash.campaign import Campaign
    from kuberay_e2e.crash.store import SweepFolder

    folder = folder_of(report_folder)
    for scenario in authored.kept(folder):
        catalogue.register(scenario)
    console = terminal(sys.stderr, plain_width=200)
    place = places.KIND if cluster is ClusterChoice.KIND else places.EMBEDDED
    return Campaign(SweepFolder(folder), console, state.free_name("crash"), place)


def _order(
    scenario: list[str] | None,
    position: list[str] | None,
    everything: bool,
    workers: int | None,
    shard: str,
    budget: str | None,
    cluster: ClusterChoice,
) -> "Order":
    from kuberay_e2e.crash import catalogue, on_kind
    from kuberay_e2e.crash.campaign import Order

    part, parts = _shard(shard)
    chosen = catalogue.select(scenario or (on_kind.SCENARIOS if cluster is ClusterChoice.KIND else ()))
    positions = [_position(text) for text in position or ()]
    return Order(chosen, positions, everything, workers, part, parts, seconds_of(budget))


def _position(text: str) -> "Position":
    from kuberay_e2e.gateway import Position

    try:
        return Position(text)
    except ValueError:
        raise InputError(f"Expected --position as one of {', '.join(Position)}, got {text!r}.") from None


def _shard(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not slash or not part.isdigit() or not parts.isdigit() or not 1 <= int(part) <= int(parts):
        raise InputError(f"Expected --shard as I/N with I from 1 to N, such as 2/4, got {text!r}.")
    return int(part), int(parts)
