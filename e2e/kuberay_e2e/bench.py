"""`make bench`: how fast the harness is and how much memory it takes, beside what is aimed at on two idle cores."""

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.table import Table

from kuberay_e2e import bench_kind, state
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.figures import Figure
from kuberay_e2e.runs import programs_of
from kuberay_toolchain.toolchain import Toolchain

_SAMPLE_SECONDS = 1.0
_MIB = 1 << 20


class Memory(threading.Thread):
    """Samples the memory of this process and of everything below it: proportional set size, in bytes.

    Programs that kwokctl detaches are found by the folder of the run in their arguments.
    """

    def __init__(self, root: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._over = threading.Event()
        self.peak = 0

    def run(self) -> None:
        """Sample until stopped."""
        while not self._over.wait(_SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_pss, self._family())))

    def stop(self) -> int:
        """Stop and return the peak in bytes."""
        self._over.set()
        self.join()
        return self.peak

    def _family(self) -> set[psutil.Process]:
        family = {self._root, *_children(self._root)}
        runs = str(state.runs_folder())
        for process in psutil.process_iter():
            try:
                if any(runs in word for word in process.cmdline()):
                    family |= {process, *_children(process)}
            except psutil.Error:
                continue
        return family


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each measurement; the median counts.")] = 3,
    local: Annotated[bool, typer.Option(help="Measure the life cycle on real Ray too.")] = True,
    kind: Annotated[bool, typer.Option(help="Measure the real cluster too, once, where it can be made.")] = True,
    images: Annotated[bool, typer.Option(help="Make the real cluster's images from nothing, too.")] = False,
) -> None:
    """Measure clusters, life cycles and memory."""
    console = Console()
    table = Table(
        "figure", "median", "aim", "note", title=f"{psutil.cpu_count()} cores, {runs} runs", title_justify="left"
    )
    for measure in (_cluster, *_life_cycles(local)):
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


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.Error, AttributeError):
        return 0


if __name__ == "__main__":
    typer.run(main)
