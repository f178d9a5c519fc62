"""The Pulumi stack under test: the program that users run, applied by Pulumi's Automation API.

Program, state and Pulumi's home are the run's own: nothing of the user's Pulumi is read or written.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pulumi import automation

from kuberay_e2e import processes
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.state import Run

PROGRAMS = ("pulumi", "pulumi-resource-kubernetes")
"""Programs that Pulumi needs, by their names in the toolchain."""

PROJECT = "kuberay"

_COLLECT_AT = "200"
"""Garbage collection of the CLI and the provider: large CRDs make Go collect all the time at its default of 100."""

_ONE_CHECKPOINT = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}
"""Save the state once, at the end: a checkpoint per step would write the CRDs' megabytes dozens of times."""


@dataclass(frozen=True)
class Change:
    """What an update did.

    Attributes:
        seconds: How long it took.
        resources: Number of resources by what was done to them, in Pulumi's words: `created`, `updated`, `replaced`,
            `deleted`, `unchanged`.
    """

    seconds: float
    resources: Mapping[str, int]


@dataclass(frozen=True)
class Planned:
    """One step of a preview.

    Attributes:
        operation: What would be done, in Pulumi's words, such as `create`, `replace` or `same`.
        type: Type token of the resource, such as `kubernetes:ray.io/v1:RayJob`.
        name: Logical name of the resource.
    """

    operation: str
    type: str
    name: str


class PulumiStack:
    """One stack of the program in `stacks/`.

    Args:
        run: Owns the folders.
        programs: Paths of `PROGRAMS`.
        kubeconfig: The cluster.
        name: Name of the stack.
        output: Receives what Pulumi prints, line by line.
    """

    def __init__(
        self,
        run: Run,
        programs: Mapping[str, Path],
        kubeconfig: Path,
        name: str,
        *,
        output: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._name = name
        self._output = output
        self._folder = run.path("pulumi", name) / "program"
        shutil.copytree(program_folder(), self._folder, ignore=shutil.ignore_patterns("__pycache__", "Pulumi.*.yaml"))
        (self._folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": PROJECT, "runtime": "python"}))
        state = run.path("pulumi", "state")
        self._environment = {
            "PATH": _path(programs),
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(run.path("kube-cache")),
            "PULUMI_HOME": str(run.path("pulumi", "home")),
            "PULUMI_BACKEND_URL": state.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
            **_ONE_CHECKPOINT,
            "GOGC": _COLLECT_AT,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            processes.MARKER: run.marker,
        }
        self._programs = programs
        self._cli: automation.PulumiCommand | None = None

    def apply(self, config: Mapping[str, Any]) -> Change:
        """Bring the cluster to what a configuration describes (`pulumi up`).

        Args:
            config: Values of the program's configuration keys, without the project's prefix.

        Raises:
            HarnessError: Pulumi or the program failed; the message ends with Pulumi's own diagnostics.
        """
        self._open()
        self._configure(config)
        return self._change("up")

    def preview(self, config: Mapping[str, Any]) -> list[Planned]:
        """Tell what an update would do, without doing it (`pulumi preview`).

        Args:
            config: Values of the program's configuration keys, without the project's prefix.

        Returns:
            The steps in Pulumi's order, those of resources that stay as they are among them.

        Raises:
            HarnessError: Pulumi or the program failed.
        """
        self._open()
        self._configure(config)
        digest = json.loads(self._run("preview", "--json", "--stack", self._name))
        return [planned(step) for step in digest["steps"]]

    def refresh(self) -> Change:
        """Read the present state of everything that the stack owns (`pulumi refresh`).

        Raises:
            HarnessError: Pulumi failed.
        """
        self._open()
        return self._change("refresh")

    def destroy(self, *, exclude_protected: bool = False) -> Change:
        """Delete everything that the stack owns (`pulumi destroy`).

        Args:
            exclude_protected: Leave protected resources, and what they need; without it Pulumi refuses to begin.

        Raises:
            HarnessError: Pulumi failed; the message ends with its own diagnostics.
        """
        self._open()
        return self._change("destroy", *(["--exclude-protected"] if exclude_protected else []))

    def _open(self) -> None:
        if self._cli is None:
            try:
                self._cli = _command(self._programs["pulumi"], self._folder.parent)
            except (OSError, subprocess.CalledProcessError) as error:
                raise HarnessError(f"pulumi cannot be run: {error}.") from error
            self._run("stack", "init", self._name)

    def _change(self, command: str, *options: str) -> Change:
        started = time.monotonic()
        said = self._run(command, "--yes", "--skip-preview", "--stack", self._name, *options)
        return Change(time.monotonic() - started, resource_changes(said))

    def _run(self, *arguments: str) -> str:
        assert self._cli is not None
        try:
            done = self._cli.run(
                [*arguments, "--color", "never"], str(self._folder), self._environment, on_output=self._output
            )
        except automation.CommandError as error:
            raise HarnessError(f"pulumi {arguments[0]} failed: {_diagnostics(str(error))}") from error
        return done.stdout

    def _configure(self, config: Mapping[str, Any]) -> None:
        path = self._folder / f"Pulumi.{self._name}.yaml"
        settings = (yaml.safe_load(path.read_text()) if path.exists() else None) or {}
        settings["config"] = {f"{PROJECT}:{key}": value for key, value in config.items()}
        path.write_text(yaml.safe_dump(settings))


def planned(step: Mapping[str, Any]) -> Planned:
    """A step of `pulumi preview --json`."""
    _, _, types, name = str(step["urn"]).split("::", 3)
    return Planned(step["op"], types.rpartition("$")[2], name)


def program_folder() -> Path:
    """The folder of the Pulumi program: in a checkout `stacks/`, else the copy inside the installed package."""
    installed = Path(str(resources.files("kuberay_e2e"))) / "stacks"
    checkout = Path(__file__).resolve().parents[2] / "stacks"
    folder = checkout if (checkout / "__main__.py").exists() else installed
    if not (folder / "__main__.py").exists():
        raise HarnessError(f"Expected the Pulumi program in {checkout} or {installed}; it is in neither. Reinstall.")
    return folder


def _command(pulumi: Path, folder: Path) -> automation.PulumiCommand:
    link = folder / "cli" / "bin" / "pulumi"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(pulumi)
    return automation.PulumiCommand(root=str(link.parent.parent))


def _path(programs: Mapping[str, Path]) -> str:
    folders = [Path(sys.executable).parent, *(programs[name].parent for name in PROGRAMS)]
    return os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])


def resource_changes(said: str) -> Mapping[str, int]:
    """Number of resources by what was done to them, from the summary that Pulumi prints at the end.

    The engine's event log has the same, but repeats every CRD in full several times.
    """
    _, _, summary = said.rpartition("Resources:\n")
    return {match[2]: int(match[1]) for match in re.finditer(r"^ +(?:[-+~]+ ?)?(\d+) (\w+)$", summary, re.MULTILINE)}


def _diagnostics(text: str, count: int = 25) -> str:
    _, found, after = text.partition("Diagnostics:")
    lines = [line.rstrip() for line in (after if found else text).splitlines() if line.strip()]
    return "\n".join(lines[-count:])
