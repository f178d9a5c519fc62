"""How fast `kuberay-policies check` is: 1,000 RayJobs on one core, beside kubeconform on the same files.

Run it with `python -m tests.policies.bench`; the exit code is 1 if an aim is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from kuberay_model import schemas
from kuberay_model.versions import DEFAULT
from kuberay_toolchain.toolchain import Toolchain
from tests.model.rayjobs import put, spec

from .objects import job

AIM_CHECK = 5.0
"""Seconds of processor time for 1,000 RayJobs."""
AIM_START = 0.5
"""Seconds of processor time for the command itself."""
AIM_GROWTH = 1.3
"""How much more than twice the time twice the objects may take."""


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        name: What was measured.
        seconds: Processor time, user and system.
        wall: Wall-clock time in seconds.
        mebibytes: Largest resident memory.
        aim: Most seconds; None if none is set.
    """

    name: str
    seconds: float
    wall: float
    mebibytes: int
    aim: float | None = None

    @property
    def missed(self) -> bool:
        """Whether it took longer than aimed at."""
        return self.aim is not None and self.seconds > self.aim

    def __str__(self) -> str:
        aim = "" if self.aim is None else f"  (aim {self.aim:g} s{', MISSED' if self.missed else ''})"
        return f"{self.name:<52} {self.seconds:6.2f} s CPU  {self.wall:6.2f} s wall  {self.mebibytes:4} MiB{aim}"


def main() -> int:
    """Measure, print, and return the exit code."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=1000, help="number of RayJobs")
    options.add_argument("--kubeconform", type=Path, help="the program; default: that of the toolchain, if built")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), given.jobs, given.kubeconform)
    for figure in figures:
        print(figure)
    return int(any(figure.missed for figure in figures))


def measure(folder: Path, number: int, kubeconform: Path | None) -> list[Figure]:
    """Measure everything on manifests in a folder."""
    check = [str(Path(sys.executable).with_name("kuberay-policies")), "check"]
    for name, count, broken in (("all", number, False), ("half", number // 2, False), ("broken", number, True)):
        write(folder / name, count, broken=broken)
    start = run("start-up (explain P101)", [check[0], "explain", "P101"], AIM_START)
    half = run(f"check {number // 2} RayJobs", [*check, str(folder / "half")])
    growth = 2 * (half.seconds - start.seconds) * AIM_GROWTH + start.seconds
    figures = [
        run("start-up (--help)", [check[0], "--help"], AIM_START),
        start,
        half,
        run(f"check {number} RayJobs", [*check, str(folder / "all")], AIM_CHECK * number / 1000),
        run("the same, grown no more than linearly", [*check, str(folder / "all")], growth),
        run(f"check {number} RayJobs, 3 findings in each", [*check, str(folder / "broken")]),
    ]
    program = kubeconform or found_kubeconform()
    if program is None:
        print("kubeconform is not built: `python -m kuberay_toolchain kubeconform` builds it.", file=sys.stderr)
        return figures
    location = schema_files(folder / "schemas")
    command = [str(program), "-strict", "-n", "1", "-schema-location", location, str(folder / "all")]
    return [*figures, run(f"kubeconform on the same {number} files (schema only)", command)]


def write(folder: Path, number: int, *, broken: bool) -> None:
    """Write RayJobs, one a file."""
    folder.mkdir()
    wrong = [spec(shutdownAfterJobFinishes=False, backoffLimit=-1)] if broken else []
    text = yaml.dump(job(put("metadata.name", "NAME"), *wrong), Dumper=yaml.CSafeDumper, sort_keys=False)
    for index in range(number):
        (folder / f"job-{index:05}.yaml").write_text(text.replace("NAME", f"train-{index}"))


def run(name: str, command: Sequence[str], aim: float | None = None) -> Figure:
    """Run a command on one core and measure it.

    Raises:
        RuntimeError: The command failed otherwise than by findings.
    """
    core = min(os.sched_getaffinity(0))
    with tempfile.TemporaryFile("w+") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=tempfile.gettempdir(),  # not here, where the settings of this repository count
            stdout=output,
            stderr=output,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode not in (0, 1) or "Traceback" in text:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {text[-2000:]}")
    return Figure(name, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss // 1024, aim)


def found_kubeconform() -> Path | None:
    """Return kubeconform if it is built."""
    found = Toolchain().find("kubeconform")
    return None if found is None else found.path


def schema_files(folder: Path) -> str:
    """Write the schema of a RayJob as kubeconform reads it, and return the location."""
    folder.mkdir()
    schema = dict(schemas.load(DEFAULT).kinds["RayJob"])
    (folder / "rayjob.json").write_text(json.dumps(schema))
    return str(folder / "{{ .ResourceKind }}.json")


if __name__ == "__main__":
    sys.exit(main())
