"""Pulumi projects, state files and a `pulumi` of their own, for tests of the front ends that Pulumi starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_policies.subjects import Subject
from kuberay_toolchain import Silent, Toolchain

POLICIES_FOLDER = Path(__file__).parents[2] / "policies"
FORMS = {"folder": POLICIES_FOLDER, "executable": POLICIES_FOLDER / "kuberay-policy-pack"}


def resource_type(subject: Subject) -> str:
    """The type of a subject's resource."""
    group_version = subject.api_version if "/" in subject.api_version else f"core/{subject.api_version}"
    return f"kubernetes:{group_version}:{subject.kind}"


def state(subjects: Iterable[Subject], stack: str = "dev") -> str:
    """A state file that holds the objects, their resources named as in their URN or `object-0` and so on."""
    root = f"urn:pulumi:{stack}::kuberay::pulumi:pulumi:Stack::kuberay-{stack}"
    resources: list[Mapping[str, Any]] = [{"urn": root, "custom": False, "type": "pulumi:pulumi:Stack"}]
    taken: set[tuple[str, str]] = set()
    for number, subject in enumerate(subjects):
        kind = resource_type(subject)
        name = subject.resource_name
        if not name or (kind, name) in taken:
            name = f"object-{number}"
        taken.add((kind, name))
        options = subject.options
        resources.append(
            {
                "urn": f"urn:pulumi:{stack}::kuberay::{kind}::{name}",
                "custom": True,
                "id": f"object-{number}",
                "type": kind,
                "inputs": subject.manifest,
                "outputs": subject.manifest,
                "parent": root,
                "protect": bool(options and options.protect),
                "ignoreChanges": list(options.ignore_changes) if options else [],
            }
        )
    manifest = {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}
    return json.dumps({"version": 3, "deployment": {"manifest": manifest, "resources": resources}}, default=str)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    output: str


@dataclass(frozen=True)
class Workspace:
    """A folder with a program and a `pulumi` that keeps everything in it."""

    folder: Path
    pulumi: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def write(self, program: str, name: str = "__main__.py") -> None:
        (self.folder / "Pulumi.yaml").write_text("name: kuberay\nruntime: python\n")
        (self.folder / name).write_text(textwrap.dedent(program))

    def settings(self, content: Mapping[str, Any]) -> None:
        (self.folder / "kuberay-policies.yaml").write_text(yaml.safe_dump(content))

    def run(self, *arguments: str, **variables: str) -> Done:
        path = os.pathsep.join((str(Path(sys.executable).parent), str(self.pulumi.parent), os.environ["PATH"]))
        for name in ("home", "state"):
            (self.folder / name).mkdir(exist_ok=True)
        env = {
            "PATH": path,
            "HOME": str(self.folder / "home"),
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": (self.folder / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            **self.variables,
            **variables,
        }
        done = subprocess.run(
            [self.pulumi, *arguments],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout)

    def analyze(self, pack: Path, state_file: str, *arguments: str, **variables: str) -> Done:
        """Run `pulumi policy analyze` on a state."""
        (self.folder / "state.json").write_text(state_file)
        return self.run(
            "policy", "analyze", "--file", "state.json", "--policy-pack", str(pack), *arguments, **variables
        )


def workspace(folder: Path) -> Workspace:
    """A workspace with the built `pulumi`; the test is skipped where it is not built."""
    found = Toolchain(progress=Silent()).find("pulumi")
    if found is None or found.source != "cache":
        pytest.skip("the pulumi with the language host is not built: python -m kuberay_toolchain pulumi")
    return Workspace(folder, found.path)
