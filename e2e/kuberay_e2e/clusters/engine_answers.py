"""Which container engines a machine has, and which of them is used."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.processes import die_with_parent

PROVIDER = "KIND_EXPERIMENTAL_PROVIDER"
"""Environment variable by which a user chooses kind's container engine."""

ENGINES = ("docker", "podman")
"""The engines, in the order in which they are tried."""

_ANSWER_SECONDS = 30.0


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


def ask(name: str) -> Answer:
    """Ask an engine for its version."""
    found = shutil.which(name)
    if found is None:
        return Answer(name, None, Problem.NOT_INSTALLED)
    program = Path(found).absolute()
    form = "{{.Server.Version}}" if name == "docker" else "{{.Client.Version}}"
    try:
        said = call([found, "version", "--format", form], {}, _ANSWER_SECONDS)
        usable = said if name == "docker" else call([found, "info", "--format", "{{.Host.Arch}}"], {}, _ANSWER_SECONDS)
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


def call(
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
