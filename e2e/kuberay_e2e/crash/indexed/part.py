"""What a pod of the Job runs: its part of the plan, then its results into the log.

It is the first process of its container, which no other one reaps for: programs of the control plane that end are
its children then.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kuberay_e2e.crash.indexed.packing import Part, pack

INDEX = "JOB_COMPLETION_INDEX"
"""Environment variable in which an Indexed Job tells a pod its index, from 0."""


def main(arguments: Sequence[str]) -> int:
    """Run a part.

    Args:
        arguments: The number of parts, the sweep's folder, then further arguments of `kuberay-e2e crash run`.

    Returns:
        0 where the part was run, whatever it found; else the exit code of the sweep.
    """
    parts, folder, *options = arguments
    part = int(os.environ[INDEX]) + 1
    shard = ("--shard", f"{part}/{parts}", "--report", folder)
    code = reaping([sys.executable, "-m", "kuberay_e2e.cli", "crash", "run", *shard, *options])
    sys.stdout.write("".join(f"{line}\n" for line in pack(Path(folder), Part(part, int(parts), code))))
    sys.stdout.flush()
    return 0 if code in (0, 1) else code


def reaping(command: Sequence[str]) -> int:
    """Run a command, pass it the signals that end this process, and reap what it leaves.

    Returns:
        Its exit code; 128 and the number of the signal where one ended it.
    """
    process = subprocess.Popen(command)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: process.send_signal(received))
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
