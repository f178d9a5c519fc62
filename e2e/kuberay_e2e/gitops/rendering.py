"""A stack becomes a folder of YAML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops import folder
from kuberay_e2e.gitops.declared import Declared, declared_objects
from kuberay_e2e.gitops.declared import title as titled
from kuberay_e2e.gitops.folder import Record
from kuberay_e2e.gitops.job_run import as_run, carries_run
from kuberay_e2e.gitops.layout import Layout, Target, annotated, engine_files
from kuberay_e2e.gitops.normal_form import normal_form
from kuberay_e2e.gitops.placed import Placed, identity, is_ray_job
from kuberay_e2e.gitops.secret import Secrets, without_secrets
from kuberay_e2e.gitops.stage import stage_of
from kuberay_e2e.gitops.yaml_text import yaml_text
from kuberay_toolchain import Toolchain

_RAY_JOB = "kuberay:index:RayJob"
"""Type of the component that names a RayJob by its run, or has a replacement trigger for it."""


@dataclass(frozen=True)
class Order:
    """What is to be rendered.

    Attributes:
        stack: Name of the stack.
        program: Folder of the Pulumi project.
        layout: The engine.
        path: Path of the rendered folder in its Git repository; empty for `gitops/<stack>`.
        repository: URL of that repository, for the Application of Argo CD.
        revision: Branch, tag or commit that Argo CD follows.
        charts: Folder with Helm charts.
        secrets: What becomes of a Secret with data.
    """

    stack: str
    program: Path = Path()
    layout: Layout = Layout.PLAIN
    path: str = ""
    repository: str = ""
    revision: str = "HEAD"
    charts: Path | None = None
    secrets: Secrets = Secrets.REFUSE

    @property
    def target(self) -> Target:
        """Where the engine finds the folder."""
        path = (self.path or f"gitops/{self.stack}").strip("/")
        return Target(self.stack, path.removeprefix("./"), self.repository, self.revision)


@dataclass(frozen=True)
class Rendered:
    """A rendered stack.

    Attributes:
        files: Text by path in the folder.
        notes: What the reader should know, a sentence each.
        objects: Number of Kubernetes objects.
    """

    files: Mapping[str, str]
    notes: tuple[str, ...]
    objects: int


def render(order: Order, out: Path, toolchain: Toolchain) -> Rendered:
    """Render a stack into a folder, which is replaced as a whole or left as it was.

    Args:
        order: What is to be rendered.
        out: The folder.
        toolchain: Finds the provider and the pinned charts.

    Raises:
        InputError: The stack cannot be rendered, or the folder holds something else.
        HarnessError: A program does not start, or the folder cannot be written.
    """
    folder.refuse_foreign(out)
    rendered = rendered_stack(declared_objects(order.program, order.stack, order.charts, toolchain), order)
    folder.replace(out, rendered.files)
    return rendered


def rendered_stack(declared: Sequence[Declared], order: Order) -> Rendered:
    """Return the files of a stack.

    Args:
        declared: Its objects.
        order: What is to be rendered.

    Raises:
        InputError: An object has no name, two are one, or a secret would be in clear.
    """
    written, secrets = without_secrets(declared, order.secrets)
    notes = [f"Secret {name} is not in the folder; it must be in the cluster." for name in secrets]
    objects: dict[str, Placed] = {}
    texts: dict[str, str] = {}
    titles: dict[tuple[str, str, str, str], str] = {}
    for item in written:
        placed, own = _placed(item)
        notes += own
        _refuse_again(placed.manifest, titles)
        path = str(placed.path)
        if path in texts:
            raise InputError(f"{titled(placed.manifest)} and {titled(objects[path].manifest)} are one job; rename one.")
        objects[path] = placed
        texts[path] = yaml_text(annotated(placed, item.kept, order.layout))
    if not objects:
        raise InputError(f"The stack {order.stack} declares no Kubernetes object; there is nothing to render.")
    placed_objects = [objects[path] for path in sorted(objects)]
    for path, content in engine_files(placed_objects, order.layout, order.target).items():
        texts[path] = yaml_text(content)
    if order.layout is Layout.ARGOCD and not order.repository:
        notes.append("There is no Application of Argo CD in the folder, because --repo does not name the repository.")
    record = Record(order.stack, order.layout, order.target.path, order.repository, secrets)
    return Rendered({folder.RECORD: record.text(), **texts}, tuple(sorted(set(notes))), len(objects))


def _placed(item: Declared) -> tuple[Placed, list[str]]:
    metadata = item.manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InputError(
            f"{item.title} has no metadata.name, so that each apply would make another object, and a job would run "
            "again and again; set metadata.name."
        )
    manifest, left_out = normal_form(item.manifest)
    if is_ray_job(manifest):
        named = _RAY_JOB in item.components and not item.identity and carries_run(name)
        manifest = as_run(manifest, item.identity, named=named)
    notes = [
        f"{titled(manifest)}: {field.path} {field.value!r} is left out, because {_lower(field.writer)} writes it."
        for field in left_out
    ]
    return Placed(manifest, stage_of(manifest, item.components)), notes


def _refuse_again(manifest: Mapping[str, Any], titles: dict[tuple[str, str, str, str], str]) -> None:
    key = identity(manifest)
    if key in titles:
        raise InputError(f"The stack declares {titles[key]} twice ({manifest['apiVersion']}); take one of them out.")
    titles[key] = titled(manifest)


def _lower(writer: str) -> str:
    return writer if writer == "Kueue" else f"{writer[0].lower()}{writer[1:]}"
