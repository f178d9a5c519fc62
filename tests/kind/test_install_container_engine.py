"""scripts/install-container-engine installs what is missing, and says what to do where it cannot."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "install-container-engine"
TOOLS = ("grep", "sh")
PODMAN = ("podman", "runc", "iptables", "netavark", "aardvark-dns")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH with nothing but what the script itself uses; programs are added by `add`."""
    for tool in TOOLS:
        (tmp_path / tool).symlink_to(f"/bin/{tool}")
    return tmp_path


def add(machine: Path, name: str, script: str = "exit 0") -> None:
    (machine / name).write_text(f"#!/bin/sh\n{script}\n")
    (machine / name).chmod(0o755)


def install(machine: Path, user: int) -> subprocess.CompletedProcess[str]:
    add(machine, "id", f"echo {user}")
    text = SCRIPT.read_text().replace("PATH=$PATH:/usr/sbin:/sbin", "").replace("/usr/lib", "/nowhere")
    return subprocess.run(
        ["/bin/sh", "-c", text, str(SCRIPT)], env={"PATH": str(machine)}, capture_output=True, text=True
    )


def test_docker_that_answers_is_enough(machine: Path) -> None:
    add(machine, "docker", "echo 27.1.0")
    assert install(machine, 1000).returncode == 0


def test_podman_with_its_parts_is_enough(machine: Path) -> None:
    for name in PODMAN:
        add(machine, name)
    assert install(machine, 1000).returncode == 0


def test_root_installs_what_is_missing_and_nothing_else(machine: Path) -> None:
    add(machine, "podman")
    add(machine, "apt-get", f'echo "$*" >> {machine}/calls')
    assert install(machine, 0).returncode == 0
    update, packages = (machine / "calls").read_text().splitlines()
    assert update.startswith("update")
    assert packages.split()[-5:] == ["runc", "iptables", "netavark", "aardvark-dns", "debootstrap"]


def test_docker_without_a_server_is_no_engine(machine: Path) -> None:
    add(machine, "docker", "echo 'Is the docker daemon running?' >&2")
    assert "podman" in install(machine, 1000).stderr


def test_a_user_is_told_that_root_is_needed(machine: Path) -> None:
    add(machine, "apt-get", f"echo called >> {machine}/calls")
    done = install(machine, 1000)
    assert done.returncode == 1
    assert "Only root can install them: sudo" in done.stderr
    assert "debootstrap" not in done.stderr
    assert not (machine / "calls").exists()


def test_a_machine_without_apt_is_told_what_to_install(machine: Path) -> None:
    done = install(machine, 0)
    assert done.returncode == 1
    assert "podman runc iptables netavark aardvark-dns. This machine has no apt-get" in done.stderr


def test_a_failed_installation_fails(machine: Path) -> None:
    add(machine, "apt-get", "exit 100")
    assert install(machine, 0).returncode == 100
