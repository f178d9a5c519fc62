"""The Pulumi stack under test: the program that users run, applied by Pulumi's Automation API.

Program, state and Pulumi's home are the run's own: nothing of the user's Pulumi is read or written.
"""

import os
import shutil
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
        resources: Number of resources by operation: `create`, `update`, `replace`, `delete`, `same`.
    """

    seconds: float
    resources: Mapping[str, int]


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
        state = run.path("pulumi", "state")
        self._environment = {
            "PATH": _path(programs),
            "KUBECONFIG": str(kubeconfig),
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
        self._stack: automation.Stack | None = None

    def apply(self, config: Mapping[str, Any]) -> Change:
        """Bring the cluster to what a configuration describes (`pulumi up`).

        Args:
            config: Values of the program's configuration keys, without the project's prefix.

        Raises:
            HarnessError: Pulumi or the program failed; the message ends with Pulumi's own diagnostics.
        """
        started = time.monotonic()
        stack = self._open()
        self._configure(config)
        result = self._do("up", lambda: stack.up(on_output=self._output, color="never", suppress_outputs=True))
        changes = result.summary.resource_changes or {}
        return Change(
            time.monotonic() - started,
            {str(getattr(key, "value", key)): count for key, count in changes.items()},
        )

    def destroy(self) -> Change:
        """Delete everything that the stack owns (`pulumi destroy`).

        Raises:
            HarnessError: Pulumi failed; the message ends with its own diagnostics.
        """
        started = time.monotonic()
        stack = self._open()
        result = self._do("destroy", lambda: stack.destroy(on_output=self._output, color="never"))
        changes = result.summary.resource_changes or {}
        return Change(
            time.monotonic() - started,
            {str(getattr(key, "value", key)): count for key, count in changes.items()},
        )

    def _open(self) -> automation.Stack:
        if self._stack is None:
            options = automation.LocalWorkspaceOptions(
                work_dir=str(self._folder),
                env_vars=self._environment,
                pulumi_home=self._environment["PULUMI_HOME"],
                pulumi_command=self._do("version", lambda: _command(self._programs["pulumi"], self._folder.parent)),
            )
            self._stack = self._do(
                "stack init",
                lambda: automation.create_stack(self._name, work_dir=str(self._folder), opts=options),
            )
        return self._stack

    def _configure(self, config: Mapping[str, Any]) -> None:
        path = self._folder / f"Pulumi.{self._name}.yaml"
        settings = (yaml.safe_load(path.read_text()) if path.exists() else None) or {}
        settings["config"] = {f"{PROJECT}:{key}": value for key, value in config.items()}
        path.write_text(yaml.safe_dump(settings))

    def _do(self, what: str, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except automation.CommandError as error:
            raise HarnessError(f"pulumi {what} failed: {_diagnostics(str(error))}") from error
        except OSError as error:
            raise HarnessError(f"pulumi {what} failed: {error}.") from error


def program_folder() -> Path:
    """The folder of the Pulumi program: in a checkout `stacks/`, else the copy inside the installed package."""
    installed = Path(str(resources.files("kuberay_e2e"))) / "stacks"
    checkout = Path(__file__).resolve().parents[2] / "stacks"
    folder = checkout if (checkout / "Pulumi.yaml").exists() else installed
    if not (folder / "Pulumi.yaml").exists():
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


def _diagnostics(text: str, count: int = 25) -> str:
    _, found, after = text.partition("Diagnostics:")
    lines = [line.rstrip() for line in (after if found else text).splitlines() if line.strip()]
    return "\n".join(lines[-count:])
