"""`make bench`: how fast the harness is and how much memory it takes, beside what is aimed at on two idle cores."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.table import Table

from kuberay_e2e import bench_gateway, bench_kind, bench_sweep, state
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.figures import Figure
from kuberay_e2e.memory import Memory
from kuberay_e2e.runs import programs_of
from kuberay_toolchain.toolchain import Toolchain

_MIB = 1 << 20


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each measurement; the median counts.")] = 3,
    local: Annotated[bool, typer.Option(help="Measure the life cycle on real Ray too.")] = True,
    kind: Annotated[bool, typer.Option(help="Measure the real cluster too, once, where it can be made.")] = True,
    sweep: Annotated[bool, typer.Option(help="Measure the crash sweep and its gateway too, once.")] = True,
    images: Annotated[bool, typer.Option(help="Make the real cluster's images from nothing, too.")] = False,
) -> None:
    """Measure clusters, life cycles and memory."""
    console = Console()
    table = Table(
        "figure", "median", "aim", "note", title=f"{psutil.cpu_count()} cores, {runs} runs", title_justify="left"
    )
    sweeps = [bench_gateway.figures, bench_sweep.figures] if sweep else []
    for measure in (_cluster, *_life_cycles(local), *sweeps):
        for figure in measure(runs):
            shown = f"{figure.measured:.1f} {figure.unit}"
            table.add_row(figure.name, shown, f"<= {figure.aim:.0f} {figure.unit}", figure.note)
    console.print(table)
    if why := bench_kind.obstacle():
        console.print(f"The real cluster is left out: {why}", highlight=False)
    elif kind:
        console.print(bench_kind.table(images=images))


def _cluster(runs: int) -> list[Figure]:
    programs = programs_of(Toolchain())
    seconds = []
    for _ in range(runs):
        with state.claim(state.free_name("bench")) as run:
            started = time.monotonic()
            with EmbeddedCluster(programs.paths).up(run):
                seconds.append(time.monotonic() - started)
    return [Figure("embedded cluster ready", statistics.median(seconds), 8, "s")]


def _life_cycles(local: bool) -> list[Callable[[int], list[Figure]]]:
    found: list[Callable[[int], list[Figure]]] = [lambda runs: _life_cycle("simulated", 90, 3, runs)]
    if local:
        found.append(lambda runs: _life_cycle("local", 150, 5, runs))
    return found


def _life_cycle(ray: str, aim: float, aim_gib: float, runs: int) -> list[Figure]:
    results, peaks = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "kuberay_e2e.cli", "lifecycle", "--ray", ray, "--report", folder]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            memory = Memory(psutil.Process(process.pid))
            memory.start()
            process.wait()
            peaks.append(memory.stop())
            results.append(json.loads((Path(folder) / "result.json").read_text()))
    if any(result["exit_code"] for result in results):
        raise SystemExit(f"The life cycle on {ray} Ray did not hold; run kuberay-e2e lifecycle --ray {ray} to see why.")
    spent = {part: statistics.median(result["spent"][part] for result in results) for part in results[0]["spent"]}
    note = ", ".join(f"{part} {seconds:.0f} s" for part, seconds in spent.items())
    seconds = statistics.median(result["seconds"] for result in results)
    return [
        Figure(f"lifecycle --ray {ray}", seconds, aim, "s", note),
        Figure(f"memory of lifecycle --ray {ray}", statistics.median(peaks) / _MIB, aim_gib * 1024, "MiB", "peak PSS"),
    ]


if __name__ == "__main__":
    typer.run(main)
