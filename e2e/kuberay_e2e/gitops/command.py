"""`kuberay-e2e gitops`: the commands."""

import typer

from kuberay_e2e.gitops.health.command import health

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.command()(health)


@app.callback()
def gitops() -> None:
    """What teams need who deploy through Argo CD or Flux."""
