"""The container engine of this machine, Docker or podman, with the settings that Kubernetes nodes in containers need.

The settings go into a file of the run's own, so that nothing of the user's configuration is changed.
"""

import json
import os
import re
import subprocess
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kuberay_e2e.clusters.engine_answers import ENGINES, PROVIDER, ask, call, choose
from kuberay_e2e.clusters.engine_settings import cgroup_version, hard_limits, make_modules_folder, settings
from kuberay_e2e.errors import HarnessError


@dataclass(frozen=True)
class Facts:
    """What an engine says about itself.

    Attributes:
        rootless: It runs without root.
        controllers: The control group controllers that it has.
        storage: Folder on the engine's machine that holds images and volumes.
    """

    rootless: bool
    controllers: frozenset[str]
    storage: Path

    @classmethod
    def parse(cls, engine: str, info: Mapping[str, Any]) -> "Facts":
        """Read the answer to `info --format json`."""
        if engine == "docker":
            limits = {"cpu": "CpuCfsQuota", "memory": "MemoryLimit", "pids": "PidsLimit"}
            return cls(
                any("rootless" in option for option in info.get("SecurityOptions") or ()),
                frozenset(name for name, field in limits.items() if info.get(field)),
                Path(info.get("DockerRootDir") or "/"),
            )
        host = info["host"]
        return cls(
            bool(host["security"]["rootless"]),
            frozenset(host.get("cgroupControllers") or ()),
            Path(info["store"]["graphRoot"]),
        )


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
        make_modules_folder()
        file = folder / "containers.conf"
        file.write_text(settings(hard_limits(), legacy_cgroups=cgroup_version() != "v2"))
        variable = "CONTAINERS_CONF_OVERRIDE" if _major(self.version) >= 5 else "CONTAINERS_CONF"
        return replace(self, environment={**self.environment, variable: str(file)})

    def facts(self) -> Facts:
        """What the engine says about itself.

        Raises:
            HarnessError: It does not answer.
        """
        form = "{{json .}}" if self.name == "docker" else "json"
        return Facts.parse(self.name, json.loads(self.run("info", "--format", form)))

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
            done = call([str(self.program), *arguments], self.environment, seconds, source.fileno() if source else None)
        except OSError as error:
            raise HarnessError(f"Expected {self.program} to be a program that runs: {error}.") from error
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

        Another image of that name is removed, unless a container is of it.

        Raises:
            HarnessError: The archive cannot be read, or the engine refused it.
        """
        reference, identity = described(archive)
        before = self.image_id(reference)
        if before == identity:
            return
        self.run("load", "--input", str(archive), seconds=600)
        if before:
            with suppress(HarnessError):
                self.run("rmi", before)


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
