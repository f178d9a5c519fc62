"""`kuberay-e2e render` and `kuberay-e2e gitops`: a stack as YAML for a sync engine, and what a sync of it would do."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kuberay_e2e.gitops.health.command import health

app = typer.Typer(no_args_is_help=True, help="Check what a sync engine will do.", rich_markup_mode=None)
app.command()(health)


class LayoutChoice(StrEnum):
    """The engines."""

    ARGOCD = "argocd"
    FLUX = "flux"
    PLAIN = "plain"


class SecretsChoice(StrEnum):
    """What becomes of a Secret with data."""

    REFUSE = "refuse"
    REFERENCE = "reference"


def render(
    stack: Annotated[str, typer.Argument(metavar="STACK", help="Name of a stack: there is a Pulumi.STACK.yaml.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder to write; what render wrote there before is replaced.")
    ],
    layout: Annotated[LayoutChoice, typer.Option(help="The engine.")] = LayoutChoice.PLAIN,
    program: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the Pulumi project.")] = Path(),
    path: Annotated[
        str, typer.Option(metavar="PATH", help="Path of DIR in its Git repository; default: gitops/STACK.")
    ] = "",
    repo: Annotated[
        str, typer.Option("--repo", metavar="URL", help="Git repository, for the Application of Argo CD.")
    ] = "",
    revision: Annotated[str, typer.Option(help="Branch, tag or commit that Argo CD follows.")] = "HEAD",
    charts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the Helm charts kuberay-operator and kueue.")
    ] = None,
    secrets: Annotated[
        SecretsChoice, typer.Option(help="A Secret with data is refused, or left out and only referred to.")
    ] = SecretsChoice.REFUSE,
) -> None:
    """Write the objects of a stack as YAML, without a cluster: the same bytes in each run and on each machine."""
    from kuberay_e2e.gitops.layout import Layout
    from kuberay_e2e.gitops.rendering import Order
    from kuberay_e2e.gitops.rendering import render as rendered
    from kuberay_e2e.gitops.secret import Secrets
    from kuberay_toolchain import Toolchain

    order = Order(stack, program, Layout(layout), path, repo, revision, charts, Secrets(secrets))
    result = rendered(order, out, Toolchain())
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    print(f"{result.objects} objects of the stack {stack} are in {out}, for {layout}.")


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `kuberay-e2e render` has written.")],
    base: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder before the change: say what the change does.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings and the change there too, as Markdown.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings of the policies; default: kuberay-policies.yaml here.")
    ] = None,
    environment: Annotated[
        str, typer.Option(metavar="NAME", help="Environment of the settings; default: the one with the stack's name.")
    ] = "",
    crds: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="File or folder with CRDs that DIR does not have; may be repeated."),
    ] = None,
) -> None:
    """Check a rendered folder: schemas, policies, order, prune safety, jobs that would run twice, names, drift."""
    from kuberay_e2e.gitops import checking, report
    from kuberay_e2e.gitops.difference import difference
    from kuberay_e2e.gitops.tree import Tree

    tree = Tree.read(folder)
    findings = checking.check(tree, checking.Choices(config, environment, tuple(crds or ())))
    change = difference(base, tree) if base is not None else None
    print(report.text(tree, findings, change))
    if markdown is not None:
        markdown.write_text(report.markdown(tree, findings, change), encoding="utf-8")
    raise typer.Exit(int(checking.failed(findings)))
