"""The figures of the crash sweep."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from kuberay_e2e.crash.store import SweepFolder
from kuberay_e2e.figures import Figure
from kuberay_e2e.memory import Memory

_SCENARIO = "k8sjob"
_WORKERS = 4
_GIB = float(1 << 30)


def figures(_runs: int = 1) -> list[Figure]:
    """Sweep run-to-completion in K8sJobMode: every write at the four positions, what is equivalent too.

    Raises:
        SystemExit: A run did not hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = ["--scenario", _SCENARIO, "--workers", str(_WORKERS), "--report", folder]
        positions = [word for name in ("before", "committed", "lost", "after") for word in ("--position", name)]
        command = [sys.executable, "-m", "kuberay_e2e.cli", "crash", "run", *options, *positions, "--all"]
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        memory = Memory(psutil.Process(process.pid))
        memory.start()
        code = process.wait()
        peak, seconds = memory.stop(), time.monotonic() - started
        results = [result for result in SweepFolder(Path(folder)).results() if result.point.write is not None]
        said = json.loads((Path(folder) / "result.json").read_text())["exit_code"]
    if code or said:
        raise SystemExit(f"The sweep of {_SCENARIO} did not hold; run kuberay-e2e crash run --scenario {_SCENARIO}.")
    alone = statistics.median(result.seconds for result in results)
    note = f"{len(results)} runs, {_WORKERS} at a time; each of them takes {alone:.1f} s"
    return [
        Figure(f"sweep of {_SCENARIO}, four positions", seconds / 60, 4, "min", note),
        Figure("seconds per run, effective", seconds / len(results), 4, "s", "with start-up and report"),
        Figure("memory of the sweep", peak / _GIB, 8, "GiB", f"peak PSS, {peak / _GIB / _WORKERS:.1f} GiB a worker"),
    ]
