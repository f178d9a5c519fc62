"""The first process of a pod: it runs its part, reaps what others left behind, and prints the results."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kuberay_e2e.crash.indexed import part
from kuberay_e2e.crash.indexed.unpacking import unpack
from kuberay_e2e.crash.store import SweepFolder
from tests.crash.report.sweeps import Sweep, learned

REAPING = "import sys; from kuberay_e2e.crash.indexed.part import reaping; sys.exit(reaping(sys.argv[1:]))"


@pytest.mark.parametrize(("code", "own"), [(0, 0), (1, 0), (2, 2), (3, 3)])
def test_a_part_that_was_run_is_no_failure_whatever_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int, own: int
) -> None:
    commands: list[list[str]] = []
    sweep = Sweep(tmp_path / "sweep").learn(learned())
    result = sweep.run("http/create:RayCluster~job-*#1@before")

    def ran(command: list[str]) -> int:
        commands.append(command)
        return code

    monkeypatch.setenv("JOB_COMPLETION_INDEX", "2")
    monkeypatch.setattr(part, "reaping", ran)
    assert part.main(["4", str(tmp_path / "sweep"), "--scenario", "http"]) == own
    [command] = commands
    assert command[1:] == [
        *("-m", "kuberay_e2e.cli", "crash", "run", "--shard", "3/4"),
        *("--report", str(tmp_path / "sweep"), "--scenario", "http"),
    ]
    told = unpack(capsys.readouterr().out, tmp_path / "back")
    assert (told.number, told.parts, told.code) == (3, 4, code)
    assert [entry.point for entry in SweepFolder(tmp_path / "back").results()] == [result.point]


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -KILL $$", 137)])
def test_the_exit_code_is_that_of_the_command(script: str, code: int) -> None:
    done = subprocess.run([sys.executable, "-c", REAPING, "sh", "-c", script])
    assert done.returncode == code


def test_a_signal_reaches_the_command(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 7' TERM; touch {ready}; while :; do sleep 0.1; done"
    process = subprocess.Popen([sys.executable, "-c", REAPING, "sh", "-c", script])
    try:
        deadline = time.monotonic() + 60
        while not ready.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 7
    finally:
        process.kill()
        process.wait()
