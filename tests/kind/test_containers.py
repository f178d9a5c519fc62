"""Which container engine is used, and what it is told."""

import io
import json
import os
import resource
import tarfile
import tomllib
from pathlib import Path

import pytest

from kuberay_e2e.clusters.containers import ContainerEngine, Facts, described
from kuberay_e2e.clusters.engine_answers import Answer, Problem, ask, choose
from kuberay_e2e.clusters.engine_settings import cgroup_version, hard_limits, make_modules_folder, settings
from kuberay_e2e.errors import HarnessError

DOCKER, PODMAN = Path("/usr/bin/docker"), Path("/usr/bin/podman")


def answers(docker: Problem | None, podman: Problem | None) -> list[Answer]:
    return [
        Answer(name, None if problem is Problem.NOT_INSTALLED else program, problem, "1.2.3")
        for name, program, problem in (("docker", DOCKER, docker), ("podman", PODMAN, podman))
    ]


def program(folder: Path, name: str, script: str) -> Path:
    """An engine's command that says what a test wants."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_docker_is_taken_before_podman() -> None:
    assert choose(answers(None, None), "").name == "docker"


@pytest.mark.parametrize("problem", list(Problem))
def test_podman_is_taken_where_docker_cannot_be_used(problem: Problem) -> None:
    assert choose(answers(problem, None), "").name == "podman"


def test_the_users_choice_comes_first() -> None:
    assert choose(answers(None, None), "podman").name == "podman"


def test_the_users_choice_is_not_replaced_by_the_other_engine() -> None:
    with pytest.raises(HarnessError, match="docker is there but its engine does not answer"):
        choose(answers(Problem.NOT_RUNNING, None), "docker")


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(HarnessError, match="Expected KIND_EXPERIMENTAL_PROVIDER to be docker or podman, got 'nerdctl'"):
        choose(answers(None, None), "nerdctl")


def test_no_engine_at_all_says_what_to_install() -> None:
    with pytest.raises(HarnessError, match=r"found none\. Install one .*scripts/install-container-engine"):
        choose(answers(Problem.NOT_INSTALLED, Problem.NOT_INSTALLED), "")


def test_an_engine_that_does_not_run_is_to_be_started() -> None:
    with pytest.raises(HarnessError, match="systemctl start docker"):
        choose(answers(Problem.NOT_RUNNING, Problem.NOT_INSTALLED), "")


def test_missing_rights_name_the_way_to_them() -> None:
    with pytest.raises(HarnessError, match="join the group docker, or run as root"):
        choose(answers(Problem.NO_RIGHTS, Problem.NOT_INSTALLED), "")
    with pytest.raises(HarnessError, match="set up rootless podman"):
        choose(answers(Problem.NOT_INSTALLED, Problem.NO_RIGHTS), "")


def test_an_engine_is_asked_for_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "docker", "echo 27.1.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask("docker") == Answer("docker", tmp_path / "docker", None, "27.1.0")
    assert ask("podman").problem is Problem.NOT_INSTALLED


@pytest.mark.parametrize(
    ("complaint", "problem"),
    [
        ("Cannot connect to the Docker daemon. Is the docker daemon running?", Problem.NOT_RUNNING),
        ("permission denied while trying to connect to the docker API", Problem.NO_RIGHTS),
    ],
)
def test_an_engine_that_complains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complaint: str, problem: Problem
) -> None:
    program(tmp_path, "docker", f"echo '{complaint}' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = ask("docker")
    assert (answer.problem, answer.said) == (problem, complaint)


def test_settings_are_a_file_of_podmans_format() -> None:
    text = settings({"nofile": 20000, "nproc": 30000}, legacy_cgroups=True)
    assert tomllib.loads(text) == {
        "containers": {"pids_limit": 0, "default_ulimits": ["nofile=20000:20000", "nproc=30000:30000"]},
        "engine": {"runtime": "runc"},
    }


def test_the_runtime_is_podmans_own_choice_on_cgroup_v2() -> None:
    assert "engine" not in tomllib.loads(settings({"nofile": 1, "nproc": 1}, legacy_cgroups=False))


def test_limits_stay_within_the_hard_ones_and_the_kernels_pid_max() -> None:
    limits = hard_limits()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert hard == resource.RLIM_INFINITY or limits["nofile"] <= hard
    assert limits["nproc"] <= int(Path("/proc/sys/kernel/pid_max").read_text())


def test_hybrid_cgroups_count_as_the_first_version(tmp_path: Path) -> None:
    (tmp_path / "unified").mkdir()
    assert cgroup_version(tmp_path) == "v1"
    (tmp_path / "cgroup.controllers").touch()
    assert cgroup_version(tmp_path) == "v2"


def test_the_modules_folder_is_made_where_it_is_missing(tmp_path: Path) -> None:
    make_modules_folder(tmp_path / "modules")
    make_modules_folder(tmp_path / "modules")
    assert list((tmp_path / "modules").iterdir()) == []


def test_a_modules_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="as root: mkdir"):
        make_modules_folder(tmp_path / "missing" / "modules")


@pytest.mark.parametrize(("version", "variable"), [("4.3.1", "CONTAINERS_CONF"), ("5.4.0", "CONTAINERS_CONF_OVERRIDE")])
def test_podman_reads_the_settings_from_the_runs_folder(tmp_path: Path, version: str, variable: str) -> None:
    engine = ContainerEngine("podman", PODMAN, version, {"KEPT": "yes"}).configured(tmp_path)
    assert engine.environment == {"KEPT": "yes", variable: str(tmp_path / "containers.conf")}
    assert "pids_limit = 0" in (tmp_path / "containers.conf").read_text()


def test_docker_needs_no_settings(tmp_path: Path) -> None:
    engine = ContainerEngine("docker", DOCKER)
    assert engine.configured(tmp_path) is engine
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_fails_is_quoted_with_its_words(tmp_path: Path) -> None:
    engine = ContainerEngine("podman", program(tmp_path, "podman", "echo no such container >&2; exit 125"))
    with pytest.raises(HarnessError, match="`podman inspect web` ended with 125: no such container"):
        engine.run("inspect", "web")


def test_a_command_that_hangs_is_stopped(tmp_path: Path) -> None:
    engine = ContainerEngine("podman", program(tmp_path, "podman", "exec sleep 60"))
    with pytest.raises(HarnessError, match="Expected `podman pull x` to end within 0 s"):
        engine.run("pull", "x", seconds=0.2)


def test_commands_run_with_the_engines_environment_and_input(tmp_path: Path) -> None:
    engine = ContainerEngine("podman", program(tmp_path, "podman", 'echo "$KEY:$*:$(cat)"'), environment={"KEY": "v"})
    (tmp_path / "archive").write_text("bytes")
    assert (
        engine.exec("node", "ctr", "import", "-", input=tmp_path / "archive") == "v:exec -i node ctr import -:bytes\n"
    )
    assert engine.exec("node", "true") == "v:exec node true:\n"


def archive(path: Path, config: str) -> Path:
    manifest = json.dumps([{"Config": config, "RepoTags": ["kindest/node:v1.34.4"], "Layers": []}]).encode()
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(manifest)
        tar.addfile(member, io.BytesIO(manifest))
    return path


@pytest.mark.parametrize("form", ["{}.json", "blobs/sha256/{}"])
def test_an_archive_tells_its_image(tmp_path: Path, form: str) -> None:
    identity = "0123456789abcdef" * 4
    path = archive(tmp_path / "image.tar", form.format(identity))
    assert described(path) == ("kindest/node:v1.34.4", identity)


def test_an_archive_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "image.tar").write_text("no tar")
    with pytest.raises(HarnessError, match=r"Expected .*image\.tar to be a docker-archive"):
        described(tmp_path / "image.tar")


def test_an_image_that_is_there_is_not_loaded_again(tmp_path: Path) -> None:
    identity = "0123456789abcdef" * 4
    script = f'echo "$1" >> {tmp_path}/calls; [ "$1" = image ] && echo "sha256:$IDENTITY"'
    path = archive(tmp_path / "image.tar", f"{identity}.json")
    fake = program(tmp_path, "podman", script)
    ContainerEngine("podman", fake, environment={"IDENTITY": identity}).load(path)
    assert (tmp_path / "calls").read_text().split() == ["image"]


def test_an_image_of_the_same_name_and_another_content_is_replaced(tmp_path: Path) -> None:
    path = archive(tmp_path / "image.tar", f"{'0123456789abcdef' * 4}.json")
    fake = program(tmp_path, "podman", f'echo "$1" >> {tmp_path}/calls; echo {"f" * 64}')
    ContainerEngine("podman", fake).load(path)
    assert (tmp_path / "calls").read_text().split() == ["image", "load", "rmi"]


def test_facts_of_podman() -> None:
    info = {
        "host": {"security": {"rootless": True}, "cgroupControllers": ["cpu", "memory"]},
        "store": {"graphRoot": "/var/lib/containers/storage"},
    }
    facts = Facts(True, frozenset({"cpu", "memory"}), Path("/var/lib/containers/storage"))
    assert Facts.parse("podman", info) == facts


def test_facts_of_docker() -> None:
    info = {
        "SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"],
        "MemoryLimit": True,
        "PidsLimit": False,
        "CpuCfsQuota": True,
        "DockerRootDir": "/var/lib/docker",
    }
    assert Facts.parse("docker", info) == Facts(True, frozenset({"cpu", "memory"}), Path("/var/lib/docker"))


def test_an_engines_commands_survive_an_interrupt_of_the_harness(tmp_path: Path) -> None:
    engine = ContainerEngine("podman", program(tmp_path, "podman", "ps -o sid= -p $$"))
    assert int(engine.run()) != os.getsid(0)
