"""`kuberay-e2e crash`: disturb the operator at every write of a scenario, and judge what it left."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from kuberay_e2e import state
from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash import point as points
from kuberay_e2e.crash.campaign import Campaign, Order
from kuberay_e2e.crash.planning import KILLS
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Position
from kuberay_e2e.terminal import ReportFolder, terminal

app = typer.Typer(no_args_is_help=True, help=__doc__)

Scenarios = Annotated[
    list[str] | None, typer.Option("--scenario", metavar="NAME", help="Only this scenario; may be repeated.")
]
Positions = Annotated[
    list[Position] | None, typer.Option("--position", help="Only this position; may be repeated; default: the kills.")
]
Everything = Annotated[bool, typer.Option("--all", help="Run points too that are equivalent to others.")]
Shard = Annotated[str, typer.Option(metavar="I/N", help="Only part I of N.")]
Workers = Annotated[int, typer.Option(min=1, help="How many runs at a time.")]
Folder = Annotated[
    Path | None, typer.Option("--report", metavar="DIR", help="Folder; default: below the state folder.")
]


@app.command("scenarios")
def list_scenarios() -> None:
    """Say which scenarios there are."""
    for scenario in catalogue.SCENARIOS:
        print(f"{scenario.name:20} {scenario.sentence}")


@app.command()
def learn(scenario: Scenarios = None, workers: Workers = 4, report: ReportFolder = None) -> None:
    """Run scenarios without a fault, and say which writes are the same in every run."""
    with _campaign(report) as campaign:
        for name, learned in campaign.learn(catalogue.select(scenario or ()), workers, anew=True).items():
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
    workers: Workers = 4,
    report: ReportFolder = None,
) -> None:
    """Say what would be run."""
    order = _order(scenario, position, everything, workers, shard, None)
    with _campaign(report) as campaign:
        planned = campaign.plan(order)
    for point in planned.points:
        print(point)
    for left_out, same in planned.equivalent:
        print(f"left out: {left_out} is equivalent to {same}")


@app.command()
def run(
    scenario: Scenarios = None,
    position: Positions = None,
    everything: Everything = False,
    shard: Shard = "1/1",
    workers: Workers = 4,
    time_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Begin no run after this time, such as 90s or 5m.")
    ] = None,
    report: ReportFolder = None,
) -> None:
    """Run what has no result yet: an interrupted sweep goes on in its folder."""
    order = _order(scenario, position, everything, workers, shard, time_budget)
    with _campaign(report) as campaign:
        results = campaign.run(order)
    broken = [result for result in results if not result.held]
    for result in broken:
        print(f"replay: {command(result)}")
    print(f"{len(results)} runs: {len(results) - len(broken)} held, {len(broken)} did not.")
    raise typer.Exit(_code(results))


@app.command()
def replay(
    point: Annotated[str, typer.Argument(help="The run, as `plan` and reports write it.")], report: ReportFolder = None
) -> None:
    """Run one point again, exactly."""
    parsed = points.parse(point)
    catalogue.select([parsed.scenario])
    with _campaign(report) as campaign:
        result = campaign.replay(parsed)
    for finding in result.findings:
        print(f"{'held  ' if finding.held else 'BROKEN'} {finding.promise}: {finding.seen}")
    raise typer.Exit(_code([result]))


def command(result: Result) -> str:
    """The command line that runs a point again."""
    return f"kuberay-e2e crash replay {shlex.quote(str(result.point))}"


def _code(results: list[Result]) -> int:
    if any(result.error for result in results):
        return 3
    return int(any(not result.held for result in results))


def _campaign(report: Path | None) -> Campaign:
    folder = report or state.state_folder() / "sweeps" / "default"
    console = terminal(sys.stderr, plain_width=200)
    return Campaign(SweepFolder(folder), console, state.free_name("crash"))


def _order(
    scenario: list[str] | None,
    position: list[Position] | None,
    everything: bool,
    workers: int,
    shard: str,
    budget: str | None,
) -> Order:
    part, parts = _shard(shard)
    chosen = catalogue.select(scenario or ())
    return Order(chosen, position or KILLS, everything, workers, part, parts, _seconds(budget))


def _shard(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not slash or not part.isdigit() or not parts.isdigit() or not 1 <= int(part) <= int(parts):
        raise InputError(f"Expected --shard as I/N with I from 1 to N, such as 2/4, got {text!r}.")
    return int(part), int(parts)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    number, unit = text[:-1], text[-1:]
    if unit not in ("s", "m") or not number.isdigit() or int(number) == 0:
        raise InputError(f"Expected --time-budget as a number of seconds or minutes, such as 90s or 5m, got {text!r}.")
    return int(number) * (60.0 if unit == "m" else 1.0)
