"""A Pulumi project in YAML in a folder of its own, with state of its own, run by the real CLI."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kuberay_toolchain.toolchain import Toolchain

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = REPOSITORY / "components" / "plugin"
EXAMPLES = REPOSITORY / "examples" / "yaml-program"
_PROGRAMS = ("pulumi", "pulumi-language-yaml", "pulumi-resource-kubernetes")


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    text: str


@dataclass(frozen=True)
class YamlProject:
    """A project with one stack.

    Attributes:
        folder: Holds everything.
        programs: Paths of Pulumi's programs.
        kubeconfig: The cluster.
    """

    folder: Path
    programs: Mapping[str, Path]
    kubeconfig: Path

    def copy(self, example: str, config: Mapping[str, Any]) -> None:
        """Become an example of the repository, with a configuration."""
        program = yaml.safe_load((EXAMPLES / example / "Pulumi.yaml").read_text())
        assert (EXAMPLES / example / program["packages"]["kuberay"]).resolve() == PLUGIN
        self.write(program, config)

    def write(self, program: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> None:
        """Become a program; the package comes from this repository."""
        whole = {"name": "test", **program, "runtime": "yaml", "packages": {"kuberay": str(PLUGIN)}}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(whole))
        values = {f"{whole['name']}:{key}": value for key, value in (config or {}).items()}
        (self.folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": values}))

    def run(self, *arguments: str) -> Said:
        """Run a command of the CLI on the stack."""
        return self.call(*arguments, "--stack", "dev")

    def call(self, *arguments: str) -> Said:
        """Run any command of the CLI."""
        done = subprocess.run(
            [self.programs["pulumi"], *arguments, "--non-interactive", "--color", "never"],
            cwd=self.folder,
            env=self._environment(),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        return Said(done.returncode, done.stdout)

    def preview(self, program: Mapping[str, Any]) -> Said:
        """Become a program, and preview it."""
        self.write(program)
        self.run("stack", "init")
        return self.run("preview")

    def _environment(self) -> dict[str, str]:
        folders = [Path(sys.executable).parent, *(path.parent for path in self.programs.values())]
        return {
            "PATH": os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)]),
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.kubeconfig),
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": (self.folder / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }


def yaml_project(folder: Path, kubeconfig: Path) -> YamlProject:
    """Make an empty project."""
    (folder / "state").mkdir()
    return YamlProject(folder, Toolchain().ensure(*_PROGRAMS), kubeconfig)
