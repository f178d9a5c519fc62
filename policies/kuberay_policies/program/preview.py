"""The objects that a Pulumi program declares, found without an engine, a provider or a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_policies.pack.resources import is_object, subject
from kuberay_policies.pack.values import plain
from kuberay_policies.program.project import Project, ProjectError
from kuberay_policies.subjects import Options, Subject

RECORDER = Path(__file__).with_name("recorder.py")
TIMEOUT_SECONDS = 300
"""Longest run of a program."""

REPLACING = "spec"
"""What a replacement trigger stands for: its program replaces the object when the spec changes."""

CRDS = "kuberay:index:KubeRayCrds"
OFFLINE_VARIABLE = "PULUMI_KUBERAY_OFFLINE"
"""Makes the components of this project do without what they would have to download."""

_UNSEEN = {
    "kubernetes:helm.sh/v4:Chart": "Helm chart",
    "kubernetes:helm.sh/v3:Chart": "Helm chart",
    "kubernetes:helm.sh/v3:Release": "Helm release",
    "kubernetes:kustomize/v2:Directory": "kustomization",
    "kubernetes:yaml/v2:ConfigGroup": "group of YAML files",
    "kubernetes:yaml/v2:ConfigFile": "YAML file",
}


@dataclass(frozen=True)
class Unseen:
    """A resource whose objects only the provider knows.

    Attributes:
        title: What it is, such as `Helm chart`, or `CRDS`.
        urn: URN of the resource.
        name: Its logical name.
    """

    title: str
    urn: str
    name: str

    def __str__(self) -> str:
        if self.title == CRDS:
            return (
                f"The CRDs of {self.name!r} are not downloaded here and not seen: run `pulumi preview --policy-pack`."
            )
        remedy = "run `pulumi preview --policy-pack`"
        if self.title.startswith("Helm"):
            remedy = f"check the output of `helm template`, or {remedy}"
        return f"The objects of the {self.title} {self.name!r} are made by the provider and not seen here: {remedy}."


@dataclass(frozen=True)
class Preview:
    """What a program declares.

    Attributes:
        subjects: The Kubernetes objects.
        unseen: Resources whose objects are not among them.
        resources: Number of all resources.
        encrypted: Keys of the configuration with an encrypted value, for which a placeholder stood.
    """

    subjects: tuple[Subject, ...]
    unseen: tuple[Unseen, ...]
    resources: int
    encrypted: tuple[str, ...] = ()

    @property
    def notes(self) -> Iterator[str]:
        """What the reader of the findings should know, a sentence each."""
        for unseen in self.unseen:
            yield str(unseen)
        for key in self.encrypted:
            yield f"The value of {key} is encrypted, and a placeholder stood for it."


def preview(project: Project) -> Preview:
    """Run the program of a stack in a process of its own and return what it declares.

    What the program prints goes to standard error.

    Raises:
        ProjectError: The program fails, or takes longer than `TIMEOUT_SECONDS`.
    """
    resources, error = declared_resources(project, {OFFLINE_VARIABLE: "1"})
    if error:
        raise ProjectError(
            f"The program of the stack {project.stack} fails: {error} To check the rest, leave a key of the "
            "configuration out with --without KEY, or set it with --set KEY=VALUE."
        )
    return Preview(
        tuple(_subject(entry) for entry in resources if entry["custom"] and is_object(entry["type"])),
        tuple(_unseen(resources)),
        len(resources),
        project.encrypted,
    )


def _unseen(resources: Sequence[Mapping[str, Any]]) -> Iterator[Unseen]:
    parents = {entry["parent"] for entry in resources}
    for entry in resources:
        title = _UNSEEN.get(entry["type"])
        if entry["type"] == CRDS and entry["urn"] not in parents:
            title = CRDS
        if title:
            yield Unseen(title, entry["urn"], entry["urn"].rpartition("::")[2])


def _subject(entry: Mapping[str, Any]) -> Subject:
    replacing = tuple(entry["replaceOnChanges"])
    options = Options(
        protect=entry["protect"],
        retain_on_delete=entry["retainOnDelete"],
        delete_before_replace=entry["deleteBeforeReplace"],
        replace_on_changes=(*replacing, REPLACING) if entry["hasReplacementTrigger"] else replacing,
        ignore_changes=tuple(entry["ignoreChanges"]),
        depends_on=tuple(entry["dependsOn"]),
        parent=entry["parent"],
        provider=entry["provider"],
    )
    return subject(entry["type"], entry["urn"], plain(entry["properties"]), options)


def declared_resources(project: Project, variables: Mapping[str, str]) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Run the program of a stack in a process of its own.

    Args:
        project: The stack.
        variables: Environment variables of the program, laid over those of this process.

    Returns:
        Every resource as the recorder wrote it down, and why the program failed; empty if it did not.

    Raises:
        ProjectError: There is no program, it ends too early, or it takes longer than `TIMEOUT_SECONDS`.
    """
    entry = next((file for file in (project.folder / "__main__.py", project.folder) if file.exists()), None)
    if entry is None:
        raise ProjectError(f"There is no program in {project.folder}; correct `main` in Pulumi.yaml.")
    with tempfile.TemporaryDirectory(prefix="kuberay-policies-") as folder:
        task = Path(folder) / "task.json"
        task.write_text(
            json.dumps(
                {
                    "root": str(project.root),
                    "folder": str(project.folder if project.folder.is_dir() else project.folder.parent),
                    "entry": str(entry),
                    "project": project.name,
                    "stack": project.stack,
                    "config": dict(project.config),
                    "secrets": list(project.encrypted),
                }
            )
        )
        environment = {**os.environ, "PULUMI_CONFIG": json.dumps(dict(project.config)), **variables}
        try:
            done = subprocess.run(
                [_python(project), "-u", str(RECORDER), str(task)],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno(),
                env=environment,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ProjectError(f"The program has not ended after {TIMEOUT_SECONDS} s and was stopped.") from None
        answer = task.with_suffix(".answer.json")
        if not answer.exists():
            raise ProjectError(f"The program ended with exit code {done.returncode} before it had declared everything.")
        content = json.loads(answer.read_text())
        return content["resources"], content["error"]


def _python(project: Project) -> str:
    if project.virtualenv is None:
        return sys.executable
    python = project.virtualenv / "bin" / "python"
    if not python.exists():
        raise ProjectError(
            f"Pulumi.yaml names the virtual environment {project.virtualenv}, but there is no {python}; create it."
        )
    return str(python)
