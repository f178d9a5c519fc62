"""The command line: what the harness does, and what it needs.

Exit codes: 0 all held, 1 something did not, 2 bad usage or input, 3 the machine, 130 ended by a signal.
"""

import functools
import os
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kuberay_e2e import images, kind_run, state
from kuberay_e2e.clusterfaults.command import faults
from kuberay_e2e.crash import command as crash
from kuberay_e2e.doctor import doctor
from kuberay_e2e.errors import HarnessError, InputError
from kuberay_e2e.gitops import command as gitops
from kuberay_e2e.queueing.command import kueue
from kuberay_e2e.signals import INTERRUPTED, interruptible
from kuberay_e2e.terminal import OperatorChoice, agree, terminal
from kuberay_toolchain.errors import ToolchainError

if TYPE_CHECKING:
    from kuberay_e2e.targets import Target

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help=__doc__,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Brackets in help texts are brackets.
)
app.add_typer(images.app, name="images")
app.add_typer(crash.app, name="crash")
app.command()(gitops.render)
app.add_typer(gitops.app, name="gitops")
app.command()(doctor)
app.command()(kind_run.kind)
app.command()(faults)
app.command()(kueue)


class ClusterKind(StrEnum):
    """The cluster providers."""

    EMBEDDED = "embedded"
    KIND = "kind"
    EXISTING = "existing"


class RayChoice(StrEnum):
    """The Ray back ends."""

    LOCAL = "local"
    SIMULATED = "simulated"


@app.command()
def lifecycle(
    manifests: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[MANIFEST…]", help="YAML of a RayJob and what it needs; default: the bundled sample."),
    ] = None,
    cluster: Annotated[ClusterKind, typer.Option(help="Where it runs.")] = ClusterKind.EMBEDDED,
    ray: Annotated[
        RayChoice | None,
        typer.Option(help="Which Ray runs behind the simulated head pods of `embedded`; default: local."),
    ] = None,
    operator: Annotated[
        OperatorChoice | None,
        typer.Option(
            help="How the operator runs where pods are real: as the Deployment's pod, killed when a watch shows its "
            "write, or as a local process, killed at the exact write; default: pod."
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Nodes of `kind`, the control plane among them; default: 1.")
    ] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Kubeconfig of `existing`; default: the one that kubectl uses.")
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="Context of that kubeconfig; default: its current one.")
    ] = None,
    use_installed: Annotated[
        bool, typer.Option("--use-installed", help="On `existing`: use the CRDs and the operator that are there.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="On `existing`: agree to what will be done there.")] = False,
    kill_at: Annotated[
        str,
        typer.Option(
            metavar="WRITE",
            help="Where the operator is disturbed: VERB:KIND[/SUBRESOURCE][:CHANGE][#OCCURRENCE][@POSITION], with the "
            "positions before, committed, lost, after; a pod has after only. Default: create:Job@committed, "
            "create:Job@after of a pod.",
        ),
    ] = "",
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Report folder; default: below the state folder.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run and its cluster; default: a free one.")] = None,
    ttl: Annotated[int, typer.Option(min=0, help="ttlSecondsAfterFinished of the second RayJob, seconds.")] = 10,
    job_timeout: Annotated[float, typer.Option(min=1, help="How long a job may take, seconds.")] = 600.0,
) -> None:
    """Drive a RayJob through its ten-step life cycle, and disturb the operator between steps 3 and 4."""
    from kuberay_e2e import runs, targets
    from kuberay_e2e.session import OperatorKind

    if cluster is not ClusterKind.EMBEDDED:
        _refuse({"--ray": ray}, "embedded", cluster)
    if cluster is not ClusterKind.KIND:
        _refuse({"--nodes": nodes}, "kind", cluster)
    if cluster is not ClusterKind.EXISTING:
        given = {"--kubeconfig": kubeconfig, "--context": context, "--use-installed": use_installed, "--yes": yes}
        _refuse(given, "existing", cluster)
    kind = OperatorKind(operator or OperatorChoice.POD)
    choices: dict[ClusterKind, Callable[[], Target]] = {
        ClusterKind.EMBEDDED: lambda: _embedded(ray, operator),
        ClusterKind.KIND: lambda: targets.Kind(kind, nodes or 1),
        ClusterKind.EXISTING: lambda: targets.Existing(
            kubeconfig, context, functools.partial(agree, yes), kind, use_installed
        ),
    }
    request = runs.Request(
        manifests=tuple(manifests or ()),
        target=choices[cluster](),
        kill_at=kill_at,
        report=report,
        name=name or state.free_name("lifecycle"),
        ttl_seconds=ttl,
        job_seconds=job_timeout,
    )
    raise typer.Exit(runs.lifecycle(request, terminal()))


def _embedded(ray: RayChoice | None, operator: OperatorChoice | None) -> "Target":
    from kuberay_e2e import targets
    from kuberay_e2e.session import RayKind

    if operator is OperatorChoice.POD:
        raise InputError(
            "--operator pod needs real pods, which --cluster embedded has not; use --cluster kind, or leave "
            "--operator out."
        )
    return targets.Embedded(RayKind(ray or RayChoice.LOCAL))


def _refuse(given: Mapping[str, object], needed: str, cluster: ClusterKind) -> None:
    if options := [option for option, value in given.items() if value]:
        raise InputError(f"{', '.join(options)} is for --cluster {needed} only, not for {cluster}. Leave it out.")


def main() -> None:
    """Run the command line and turn errors into sentences and exit codes."""
    _stay_on_loopback()
    try:
        with interruptible():
            code = app(standalone_mode=False)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except InputError as error:
        code = _complain(error, 2)
    except (HarnessError, ToolchainError) as error:
        code = _complain(error, 3)
    except OSError as error:
        code = _complain(HarnessError(f"The machine refused a file or a process: {error}."), 3)
    except typer._click.exceptions.ClickException as error:
        error.show()
        code = 2
    if code == INTERRUPTED:
        print("\nInterrupted; everything that was started has been stopped.", file=sys.stderr)
    sys.exit(code)


def _complain(error: Exception, code: int) -> int:
    print(f"kuberay-e2e: {error}", file=sys.stderr)
    return code


def _stay_on_loopback() -> None:
    """Keep requests to this machine away from a configured HTTP proxy."""
    for variable in ("NO_PROXY", "no_proxy"):
        known = [entry for entry in os.environ.get(variable, "").split(",") if entry]
        os.environ[variable] = ",".join(dict.fromkeys([*known, "127.0.0.1", "localhost"]))


if __name__ == "__main__":
    main()
