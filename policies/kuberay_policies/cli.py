"""The command `kuberay-policies`.

Modules that take time to load are imported by the command that needs them.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kuberay_policies.commands.errors import CommandError
from kuberay_policies.output_format import OutputFormat

USAGE_ERROR = 2

app = typer.Typer(
    name="kuberay-policies",
    help="Check RayJobs and what they need before anything is applied. Exit codes: 0 nothing that fails, "
    "1 findings, 2 something could not be read or was asked wrongly.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
export = typer.Typer(help="Write what other programs need.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(export, name="export")


@app.command()
def check(
    paths: Annotated[list[str], typer.Argument(help="YAML or JSON files, folders, or - for standard input.")],
    environment: Annotated[str | None, typer.Option("--environment", "-e", help="One of the settings file.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Settings file. Default kuberay-policies.yaml, if it exists.")
    ] = None,
    kuberay_version: Annotated[str | None, typer.Option(help="KubeRay version. Default that of the settings.")] = None,
    gates: Annotated[str | None, typer.Option(help="Feature gates of the operator: A=true,B=false.")] = None,
    crds: Annotated[
        str | None, typer.Option(help="CRDs to compare fields with: a file, a folder, or `cluster`.")
    ] = None,
    state: Annotated[
        bool, typer.Option("--state", help="The files are state files of Pulumi; they are recognised without it.")
    ] = False,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Files and folders that are left out of folders; * is any text.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail the check, too.")] = False,
    output_format: Annotated[OutputFormat, typer.Option("--format", "-f", help="Format of the report.")] = (
        OutputFormat.TEXT
    ),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the report.")] = None,
) -> None:
    """Check manifests, output of Helm or kustomize, or a state of Pulumi."""
    from kuberay_policies.commands.check import check as run
    from kuberay_policies.commands.check import chosen_settings
    from kuberay_policies.formats import render

    with _annotated(output_format):
        settings, notes = chosen_settings(config, environment, kuberay_version, gates, crds)
        outcome = run(paths, settings, state=state, excluded=exclude or (), notes=notes)
    _write(render(outcome, output_format), output)
    if output is not None:
        typer.echo(outcome.summary)
    raise typer.Exit(max(outcome.exit_code, int(strict and bool(outcome.report.findings))))


@app.command("list")
def list_policies(
    family: Annotated[str | None, typer.Option(help="Only policies of this family.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    counts: Annotated[
        bool, typer.Option("--counts", help="Instead, say how many policies each front end has.")
    ] = False,
) -> None:
    """List the policies."""
    if counts:
        from kuberay_policies.front_ends import table

        _write(table(), None)
        return
    from kuberay_policies.commands.catalogue import listing

    _write(listing(family, as_json), None)


@app.command()
def explain(ids: Annotated[list[str], typer.Argument(help="Ids or names, such as P101 or cleanup-required.")]) -> None:
    """Say what policies want, why, and what can be set."""
    from kuberay_policies.commands.catalogue import explanation

    _write(explanation(ids), None)


@export.command("schema")
def export_schema(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the schema.")] = None,
) -> None:
    """Write the JSON Schema of the settings file."""
    from kuberay_policies.schema_export import settings_schema

    _write(settings_schema(), output)


@export.command("vap")
def export_vap(
    environment: Annotated[str | None, typer.Option("--environment", "-e", help="One of the settings file.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Settings file. Default kuberay-policies.yaml, if it exists.")
    ] = None,
    kuberay_version: Annotated[str | None, typer.Option(help="KubeRay version. Default that of the settings.")] = None,
    gates: Annotated[str | None, typer.Option(help="Feature gates of the operator: A=true,B=false.")] = None,
    name: Annotated[str, typer.Option(help="Beginning of the objects' names. Default with the environment.")] = "",
    namespaces: Annotated[
        str, typer.Option(help="Labels of the namespaces that are checked: a=b,c=d. Default all namespaces.")
    ] = "",
    warn_only: Annotated[bool, typer.Option("--warn-only", help="Errors warn, too, instead of denying.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Instead, say which policies are exported and why not.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the objects.")] = None,
) -> None:
    """Write ValidatingAdmissionPolicies: what the API server then refuses or warns of."""
    from kuberay_policies.commands.admission import admission_objects, coverage_table
    from kuberay_policies.commands.check import chosen_settings

    if table:
        _write(coverage_table(), output)
        return
    settings, _ = chosen_settings(config, environment, kuberay_version, gates, None)
    _write(admission_objects(settings, name, namespaces, warn_only=warn_only), output)


@app.command()
def preview(
    program: Annotated[Path, typer.Argument(help="Folder of the Pulumi project. Default this one.")] = Path(),
    stack: Annotated[
        str, typer.Option("--stack", "-s", envvar="PULUMI_STACK", help="Stack whose configuration is used.")
    ] = "",
    environment: Annotated[
        str | None, typer.Option("--environment", "-e", help="One of the settings file. Default that of the stack.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="Settings file. Default kuberay-policies.yaml, if it exists.")
    ] = None,
    kuberay_version: Annotated[str | None, typer.Option(help="KubeRay version. Default that of the settings.")] = None,
    gates: Annotated[str | None, typer.Option(help="Feature gates of the operator: A=true,B=false.")] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE of the stack's configuration, objects as JSON.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", help="Key of the stack's configuration to leave out.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail the check, too.")] = False,
    output_format: Annotated[OutputFormat, typer.Option("--format", "-f", help="Format of the report.")] = (
        OutputFormat.TEXT
    ),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the report.")] = None,
) -> None:
    """Check what a Pulumi program declares, without engine, cluster or credentials."""
    from kuberay_policies.commands.preview import preview as run
    from kuberay_policies.formats import render

    with _annotated(output_format):
        outcome = run(program, stack, config, environment, kuberay_version, gates, values or (), without or ())
    _write(render(outcome, output_format), output)
    if output is not None:
        typer.echo(outcome.summary)
    raise typer.Exit(max(outcome.exit_code, int(strict and bool(outcome.report.findings))))


def main() -> None:
    """Run the command; errors are one sentence on standard error and exit code 2."""
    gc.disable()  # the command ends soon, and reading manifests makes many objects and hardly any cycles
    try:
        app()
    except CommandError as error:
        typer.echo(f"kuberay-policies: {error}", err=True)
        sys.exit(USAGE_ERROR)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(USAGE_ERROR)


@contextlib.contextmanager
def _annotated(output_format: OutputFormat) -> Iterator[None]:
    """Where annotations are asked for, the error that ends the command is one, too."""
    try:
        yield
    except CommandError as error:
        if output_format is OutputFormat.GITHUB:
            from kuberay_policies.formats import github

            typer.echo(github.command("error", str(error), title="Not checked"))
        raise


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{output} cannot be written: {error.strerror}.") from None
