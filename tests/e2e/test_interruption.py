"""Whatever ends the command, everything that it started is stopped."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kuberay_e2e import state
from tests.e2e.commands import Command, lifecycle

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("kuberay_programs")]


def wait_cluster(command: Command) -> None:
    while not any("etcd" in found for found in command.leftovers()):
        assert command.process.poll() is None
        time.sleep(0.05)


def wait_pulumi(command: Command) -> None:
    command.wait_line(" 1 create the cluster")
    while not any("pulumi-resource-kubernetes" in found or "--stack crds" in found for found in command.leftovers()):
        assert command.process.poll() is None
        time.sleep(0.05)


def wait_operator(command: Command) -> None:
    command.wait_line(" 2 install CRDs and operator")


@pytest.mark.parametrize(
    ("moment", "number"),
    [(wait_cluster, signal.SIGINT), (wait_pulumi, signal.SIGTERM), (wait_operator, signal.SIGINT)],
    ids=["SIGINT while the cluster starts", "SIGTERM while Pulumi runs", "SIGINT while the operator works"],
)
def test_signals(tmp_path: Path, moment: Callable[[Command], None], number: signal.Signals) -> None:
    with lifecycle(tmp_path, "--ray", "simulated") as command:
        moment(command)
        command.process.send_signal(number)
        code, said = command.end(60)
        assert code == 130, said
        assert "everything that was started has been stopped" in said
        assert command.leftovers() == []


def test_what_a_killed_command_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with lifecycle(tmp_path, "--ray", "simulated", "--name", "killed") as command:
        wait_pulumi(command)
        command.process.kill()
        command.process.wait()
        assert any("etcd" in found for found in command.leftovers())
        monkeypatch.setenv("XDG_STATE_HOME", str(command.state))
        [sentence] = state.sweep()
        assert sentence.startswith("Removed what the killed run 'killed' left")
        assert command.leftovers() == []


def test_a_name_in_use_is_refused(tmp_path: Path) -> None:
    with lifecycle(tmp_path, "--ray", "simulated", "--name", "same") as first:
        wait_cluster(first)
        with lifecycle(tmp_path, "--ray", "simulated", "--name", "same") as second:
            code, said = second.end(60)
        assert code == 2
        assert "A run named 'same' is going on" in said
        first.process.send_signal(signal.SIGINT)
        assert first.end(60)[0] == 130
        assert first.leftovers() == []
