"""A run owns its folder and its processes; what a killed run left is found and removed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kuberay_e2e import processes, state
from kuberay_e2e.errors import HarnessError, InputError


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def sleeper(run: state.Run) -> subprocess.Popen[bytes]:
    return processes.spawn(["sleep", "300"], marker=run.marker, log=run.folder / "sleep.log")


def test_folder_and_processes_are_gone_after_the_block() -> None:
    with state.claim("one") as run:
        process = sleeper(run)
        assert run.folder.is_dir()
    assert not psutil.pid_exists(process.pid)
    assert not run.folder.exists()
    assert not list(state.runs_folder().iterdir())


def test_detached_grandchildren_are_ended_too() -> None:
    with state.claim("one") as run:
        command = ["sh", "-c", "setsid sleep 301 & exit 0"]
        processes.spawn(command, marker=run.marker, log=run.folder / "log").wait()
        [grandchild] = processes.marked(run.marker)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


def test_an_error_inside_the_block_cleans_up_as_well() -> None:
    with pytest.raises(RuntimeError), state.claim("one") as run:
        process = sleeper(run)
        raise RuntimeError
    assert not psutil.pid_exists(process.pid)
    assert not run.folder.exists()


def test_two_runs_of_different_names_at_once() -> None:
    with state.claim("one") as one, state.claim("two") as two:
        assert one.marker != two.marker


def test_a_name_in_use_is_refused() -> None:
    with state.claim("one"), pytest.raises(InputError, match="A run named 'one' is going on"), state.claim("one"):
        pass


@pytest.mark.parametrize("name", ["", "Upper", "under_score", "a" * 41, "../up", "space d"])
def test_unusable_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="Expected a name of 1 to 40"), state.claim(name):
        pass


def test_a_foreign_folder_of_the_same_name_is_not_touched() -> None:
    foreign = state.runs_folder() / "one"
    foreign.mkdir(parents=True)
    (foreign / "precious").write_text("keep")
    with pytest.raises(InputError, match=r"is not a run of kuberay-e2e"), state.claim("one"):
        pass
    assert state.sweep() == []
    assert (foreign / "precious").read_text() == "keep"


def test_an_unwritable_state_folder_is_told(own_state: Path) -> None:
    own_state.write_text("a file where the folder should be")
    with pytest.raises(HarnessError, match="Cannot use the state folder"), state.claim("one"):
        pass


def test_the_next_run_removes_what_a_killed_one_left() -> None:
    program = (
        "import time; from kuberay_e2e import state, processes\n"
        "with state.claim('killed') as run:\n"
        "    processes.spawn(['sh', '-c', 'setsid sleep 302'], marker=run.marker, log=run.folder / 'log')\n"
        "    print(run.marker, flush=True); time.sleep(300)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    marker = child.stdout.readline().strip()
    while not processes.marked(marker):
        time.sleep(0.01)
    assert state.sweep() == [], "a living run must be left alone"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    [sentence] = state.sweep()
    assert "Removed what the killed run 'killed' left" in sentence
    assert processes.marked(marker) == []
    assert not (state.runs_folder() / "killed").exists()


def test_a_killed_run_of_the_same_name_is_replaced() -> None:
    folder = state.runs_folder() / "one"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"owner": "kuberay-e2e", "marker": "one-gone"}))
    (folder / "old").write_text("")
    with state.claim("one") as run:
        assert not (run.folder / "old").exists()
