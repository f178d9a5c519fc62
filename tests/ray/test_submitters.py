"""What a submitter Pod's command becomes on this machine."""

import asyncio
from pathlib import Path

import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray import RayClusterKey, Submitter
from kuberay_e2e.ray.mounts import Mounts
from kuberay_e2e.ray.submitters import head_address, run
from tests.ray.bench import ADDRESS, submit_command

KEY = RayClusterKey("default", "a")


def pod(tmp_path: Path, command: list[str], **env: str) -> Submitter:
    return Submitter("default", "pod-1", "uid", KEY, command, tmp_path / "log", env)


def output(submitter: Submitter, tmp_path: Path) -> str:
    assert asyncio.run(run(submitter, "http://127.0.0.1:4321", marker="test", path=tmp_path)) == 0
    return submitter.log.read_text()


@pytest.mark.parametrize("value", [ADDRESS, f"http://{ADDRESS}"])
def test_address_from_the_environment(tmp_path: Path, value: str) -> None:
    assert head_address(pod(tmp_path, ["true"], RAY_DASHBOARD_ADDRESS=value)) == ADDRESS


def test_address_from_the_command(tmp_path: Path) -> None:
    assert head_address(pod(tmp_path, submit_command("id", "true"))) == ADDRESS
    assert head_address(pod(tmp_path, ["ray", "job", "list", f"--address={ADDRESS}"])) == ADDRESS


def test_no_address(tmp_path: Path) -> None:
    assert head_address(pod(tmp_path, ["true"])) is None


def test_door_takes_the_place_of_the_head_service(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", f"echo --address http://{ADDRESS} $RAY_DASHBOARD_ADDRESS"]
    assert output(pod(tmp_path, command, RAY_DASHBOARD_ADDRESS=ADDRESS), tmp_path) == (
        "--address http://127.0.0.1:4321 127.0.0.1:4321\n"
    )


def test_door_takes_the_place_of_the_loopback_of_a_head_pod(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "echo http://localhost:8265/api/gcs_healthz ray --address http://127.0.0.1:8265"]
    assert output(pod(tmp_path, command, RAY_DASHBOARD_ADDRESS=""), tmp_path) == (
        "http://127.0.0.1:4321/api/gcs_healthz ray --address http://127.0.0.1:4321\n"
    )


def test_environment_is_the_pods_not_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://the-users-own:10001")
    command = ["/bin/sh", "-c", "echo ${RAY_ADDRESS:-unset} $TEAM $HOME"]

    address, team, home = output(pod(tmp_path, command, TEAM="ml", HOME="/home/ray"), tmp_path).split()

    assert (address, team) == ("unset", "ml")
    assert home not in ("/home/ray", str(Path.home()))
    assert not Path(home).exists(), "the HOME of a submitter goes with it"


def test_image_paths_of_programs_are_found_by_name(tmp_path: Path) -> None:
    assert output(pod(tmp_path, ["/opt/image/only/bin/echo", "hello"]), tmp_path) == "hello\n"


def test_program_that_is_not_on_this_machine(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"submitter Pod default/pod-1: its program '/nowhere/unheard-of' is not"):
        output(pod(tmp_path, ["/nowhere/unheard-of"]), tmp_path)


def test_pod_without_command(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="Expected a command or args in the submitter Pod default/pod-1"):
        output(pod(tmp_path, []), tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python /home/ray/samples/counter.py", "python /here/counter.py"),
        ("ls /home/ray/samples", "ls /here"),
        ("ls '/home/ray/samples/deep'", "ls '/there'"),
        ("ls /home/ray/samples2 x/home/ray/samples", "ls /home/ray/samples2 x/home/ray/samples"),
        ("A=/home/ray/samples/a:/home/ray/samples/b", "A=/here/a:/here/b"),
    ],
)
def test_mount_paths_are_rewritten(text: str, expected: str) -> None:
    mounts = Mounts({"/home/ray/samples/": Path("/here"), "/home/ray/samples/deep": Path("/there")})
    assert mounts.rewrite(text) == expected


def test_no_mounts_change_nothing() -> None:
    assert Mounts({}).rewrite("python /home/ray/main.py") == "python /home/ray/main.py"
