"""The container engine of this machine, Docker or podman, with the settings that Kubernetes nodes in containers need.

The settings go into a file of the run's own, so that nothing of the user's configuration is changed.
Fields of that file: https://github.com/containers/common/blob/main/docs/containers.conf.5.md
"""

import json
import os
import re
import resource
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.processes import die_with_parent

PROVIDER = "KIND_EXPERIMENTAL_PROVIDER"
"""Environment variable by which a user chooses kind's container engine."""

ENGINES = ("docker", "podman")
"""The engines, in the order in which they are tried."""

_ANSWER_SECONDS = 30.0
_OPEN_FILES = 1_048_576
_PID_MAX = Path("/proc/sys/kernel/pid_max")


class Problem(StrEnum):
    """Why an engine cannot be used."""

    NOT_INSTALLED = "not installed"
    NOT_RUNNING = "not running"
    NO_RIGHTS = "no rights"


@dataclass(frozen=True)
class Answer:
    """What an engine said when it was asked who it is.

    Attributes:
        name: `docker` or `podman`.
        program: Its command; None where there is none.
        problem: Why it cannot be used; None if it can.
        said: Its words about the problem, or its version.
    """

    name: str
    program: Path | None
    problem: Problem | None
    said: str = ""


@dataclass(frozen=True)
class ContainerEngine:
    """A container engine that answers.

    Attributes:
        name: `docker` or `podman`.
        program: Its command.
        version: Its release, such as 4.3.1.
        environment: Variables that the engine and kind need, to be added to a process's own.
    """

    name: str
    program: Path
    version: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def detect(cls) -> "ContainerEngine":
        """The engine of this machine: the one that KIND_EXPERIMENTAL_PROVIDER names, else Docker, else podman.

        Raises:
            HarnessError: None can be used; the sentence says why and what to do.
        """
        return cls.named(os.environ.get(PROVIDER, ""))

    @classmethod
    def named(cls, name: str) -> "ContainerEngine":
        """The engine of a name; an empty name leaves the choice.

        Raises:
            HarnessError: It cannot be used; the sentence says why and what to do.
        """
        answer = choose([ask(engine) for engine in ENGINES], name)
        assert answer.program is not None
        return cls(answer.name, answer.program, answer.said, {PROVIDER: answer.name})

    def configured(self, folder: Path) -> "ContainerEngine":
        """The same engine with the settings that nodes need, kept in a folder of the run.

        Docker takes its settings from its daemon and needs none.
        """
        if self.name != "podman":
            return self
        file = folder / "containers.conf"
        file.write_text(settings(hard_limits(), legacy_cgroups=cgroup_version() != "v2"))
        variable = "CONTAINERS_CONF_OVERRIDE" if _major(self.version) >= 5 else "CONTAINERS_CONF"
        return replace(self, environment={**self.environment, variable: str(file)})

    def run(self, *arguments: str, input: Path | None = None, seconds: float = 120.0) -> str:
        """Run a command of the engine, such as `ps -a`, and return what it printed.

        Args:
            arguments: Of the engine's command.
            input: File that the command reads from standard input.
            seconds: How long it may take.

        Raises:
            HarnessError: It failed or took too long.
        """
        source = input.open("rb") if input else None
        try:
            done = _call(
                [str(self.program), *arguments], self.environment, seconds, source.fileno() if source else None
            )
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"Expected `{self.name} {' '.join(arguments)}` to end within {seconds:.0f} s; it was stopped."
            ) from None
        finally:
            if source:
                source.close()
        if done.returncode != 0:
            raise HarnessError(
                f"`{self.name} {' '.join(arguments)}` ended with {done.returncode}: {done.stderr.strip()[-2000:]}"
            )
        return done.stdout

    def exec(self, container: str, *command: str, input: Path | None = None, seconds: float = 120.0) -> str:
        """Run a command in a container and return what it printed.

        Raises:
            HarnessError: It failed or took too long.
        """
        return self.run("exec", *(("-i",) if input else ()), container, *command, input=input, seconds=seconds)

    def image_id(self, reference: str) -> str | None:
        """Id of an image that the engine holds, 64 hexadecimal digits; None where it holds none of that name."""
        try:
            said = self.run("image", "inspect", "--format", "{{.Id}}", reference)
        except HarnessError:
            return None
        return said.strip().removeprefix("sha256:")

    def load(self, archive: Path) -> None:
        """Take the image of a docker-archive into the engine; an image that is there already is left alone.

        Raises:
            HarnessError: The archive cannot be read, or the engine refused it.
        """
        reference, identity = described(archive)
        if self.image_id(reference) != identity:
            self.run("load", "--input", str(archive), seconds=600)


def ask(name: str) -> Answer:
    """Ask an engine for its version."""
    found = shutil.which(name)
    if found is None:
        return Answer(name, None, Problem.NOT_INSTALLED)
    program = Path(found).absolute()
    form = "{{.Server.Version}}" if name == "docker" else "{{.Client.Version}}"
    try:
        said = _call([found, "version", "--format", form], {}, _ANSWER_SECONDS)
        usable = said if name == "docker" else _call([found, "info", "--format", "{{.Host.Arch}}"], {}, _ANSWER_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Answer(name, program, Problem.NOT_RUNNING, str(error))
    for done in (said, usable):
        if done.returncode != 0:
            complaint = done.stderr.strip()[-500:]
            denied = "permission denied" in complaint.lower() or "operation not permitted" in complaint.lower()
            return Answer(name, program, Problem.NO_RIGHTS if denied else Problem.NOT_RUNNING, complaint)
    return Answer(name, program, None, said.stdout.strip())


def choose(answers: Sequence[Answer], asked: str) -> Answer:
    """Choose the engine to use.

    Args:
        answers: Of the engines, in the order of preference.
        asked: The user's choice, see `PROVIDER`; empty for none.

    Raises:
        HarnessError: None can be used; the sentence says why and what to do.
    """
    if asked and asked not in ENGINES:
        raise HarnessError(f"Expected {PROVIDER} to be {' or '.join(ENGINES)}, got {asked!r}. Change it, or unset it.")
    candidates = [answer for answer in answers if asked in ("", answer.name)]
    for answer in candidates:
        if answer.problem is None:
            return answer
    raise HarnessError(refusal(candidates))


def refusal(answers: Sequence[Answer]) -> str:
    """Say why none of the engines can be used, and what to do."""
    there = [answer for answer in answers if answer.problem is not Problem.NOT_INSTALLED]
    if not there:
        names = " or ".join(answer.name for answer in answers)
        return (
            f"Expected {names} on the PATH, which kind needs; found none. Install one (on Debian as root: "
            "scripts/install-container-engine), or use --cluster embedded, which needs no container engine."
        )
    return " ".join(_sentence(answer) for answer in there)


def _sentence(answer: Answer) -> str:
    if answer.problem is Problem.NO_RIGHTS:
        remedy = (
            "join the group docker, or run as root"
            if answer.name == "docker"
            else "run as root, or set up rootless podman (subordinate ids in /etc/subuid and /etc/subgid)"
        )
        return f"{answer.program} is there but denies this user: {answer.said}. To use it, {remedy}."
    remedy = "start it (`systemctl start docker`)" if answer.name == "docker" else "see `podman info`"
    return f"{answer.program} is there but its engine does not answer: {answer.said}. To use it, {remedy}."


def hard_limits() -> dict[str, int]:
    """What this process may give to a container: open files, and processes of a user.

    They are within this process's own hard limits. podman lowers its limit of processes to the kernel's `pid_max`,
    and then cannot give more than that.
    """
    return {
        "nofile": _within(resource.getrlimit(resource.RLIMIT_NOFILE)[1], _OPEN_FILES),
        "nproc": _within(resource.getrlimit(resource.RLIMIT_NPROC)[1], int(_PID_MAX.read_text())),
    }


def _within(hard: int, wanted: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)


def settings(limits: Mapping[str, int], *, legacy_cgroups: bool) -> str:
    """Text of podman's configuration file for nodes.

    Args:
        limits: Limits of a node, see `hard_limits`.
        legacy_cgroups: The machine has cgroup v1, alone or beside v2, with which crun cannot start containers.
    """
    ulimits = ", ".join(f'"{name}={value}:{value}"' for name, value in limits.items())
    text = f"[containers]\npids_limit = 0\ndefault_ulimits = [{ulimits}]\n"
    return text + '[engine]\nruntime = "runc"\n' if legacy_cgroups else text


def cgroup_version(root: Path = Path("/sys/fs/cgroup")) -> str:
    """How control groups are mounted: `v2`, or `v1` where any controller is on the first version (hybrid too)."""
    return "v2" if (root / "cgroup.controllers").exists() else "v1"


def described(archive: Path) -> tuple[str, str]:
    """Reference and id of the image in a docker-archive.

    Raises:
        HarnessError: It is no such archive.
    """
    try:
        with tarfile.open(archive) as tar:
            member = tar.extractfile("manifest.json")
            entry = json.load(member)[0] if member else {}
        identity = re.search(r"[0-9a-f]{64}", entry["Config"])
        return entry["RepoTags"][0], identity[0] if identity else ""
    except (OSError, tarfile.TarError, ValueError, LookupError, TypeError) as error:
        raise HarnessError(f"Expected {archive} to be a docker-archive with one image: {error!r}.") from error


def _major(version: str) -> int:
    number = version.split(".")[0]
    return int(number) if number.isdigit() else 0


def _call(
    command: Sequence[str], environment: Mapping[str, str], seconds: float, source: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a session of its own: a Ctrl-C that ends the harness does not end what cleans up after it."""
    return subprocess.run(
        command,
        stdin=source if source is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        env={**os.environ, **environment},
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
