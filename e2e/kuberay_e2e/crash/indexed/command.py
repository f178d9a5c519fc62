"""`kuberay-e2e crash job`: the plan as an Indexed Job on a cluster that is there."""

import re
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import yaml

from kuberay_e2e import state
from kuberay_e2e.crash.budget import seconds_of
from kuberay_e2e.errors import InputError
from kuberay_e2e.terminal import ReportFolder, agree, terminal

if TYPE_CHECKING:
    from kuberay_e2e.crash.indexed.manifests import Wish

_BEYOND_BUDGET_SECONDS = 900
_WHOLE_PLAN_SECONDS = 6 * 3600


def job(
    image: Annotated[
        str, typer.Option(metavar="REF", help="The harness's image, as the nodes of the cluster pull it.")
    ],
    parts: Annotated[int, typer.Option(min=1, max=1000, help="In how many parts the plan is cut.")],
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Kubeconfig of the cluster; default: the one that kubectl uses.")
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="Context of that kubeconfig; default: its current one.")
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Namespace that is made, and removed at the end; default: a free one."),
    ] = None,
    at_once: Annotated[int | None, typer.Option(min=1, help="How many parts run at a time; default: all.")] = None,
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", metavar="NAME", help="Only this scenario; may be repeated.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Run what is equivalent too, and variants at every write.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many runs at a time in each part; default: 4.")
    ] = None,
    time_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Let each part run what covers most in this time, such as 20m.")
    ] = None,
    cpu: Annotated[float, typer.Option(min=0.1, help="CPUs that each pod asks for.")] = 2.0,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory of each pod, such as 3Gi.")] = "3Gi",
    report_folder: ReportFolder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what will be done on the cluster.")] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Print the manifests, and do nothing.")] = False,
) -> None:
    """Run the plan in the pods of an Indexed Job on a cluster of your own, and write one report of it."""
    from kuberay_e2e.crash.indexed import manifests

    name = namespace or f"kuberay-sweep-{secrets.token_hex(3)}"
    budget = seconds_of(time_budget)
    wish = manifests.Wish(
        _checked("--image", image, r"[\w.:/@-]+", "the reference of an image, such as registry.example.com/harness:1"),
        parts,
        at_once or parts,
        _checked("--namespace", name, r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", "the name of a namespace, such as sweep"),
        _WHOLE_PLAN_SECONDS if budget is None else round(budget) + _BEYOND_BUDGET_SECONDS,
        _options(scenario or (), everything, workers, time_budget),
        cpu,
        _checked("--memory", memory, r"[1-9]\d{0,5}(Mi|Gi)", "an amount in Mi or Gi, such as 3Gi"),
    )
    if print_only:
        print(yaml.safe_dump_all([manifests.namespace(wish, name), manifests.job(wish)], sort_keys=False), end="")
        return
    raise typer.Exit(_run(wish, kubeconfig, context, report_folder or state.state_folder() / "sweeps" / name, yes))


def _run(wish: "Wish", path: Path | None, context: str | None, target: Path, yes: bool) -> int:
    from kuberay_e2e.access import Access
    from kuberay_e2e.clusters import kubeconfig
    from kuberay_e2e.crash.indexed.gathering import report
    from kuberay_e2e.crash.indexed.looking import look
    from kuberay_e2e.crash.indexed.running import run_job

    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"Expected {target} to be a new or an empty folder for the report. Choose another --report.")
    path = path or kubeconfig.default_path()
    cluster, config = kubeconfig.one_context(path, context)
    access = Access.of(config, str(path), None)
    with access.client(timeout=20.0) as client:
        version = look(client, wish.namespace)
    said = (
        f"Cluster {cluster!r} at {access.server}, Kubernetes {version}.\n"
        f"Made there, and removed at the end with everything in it: the namespace {wish.namespace} with a Job of "
        f"{wish.parts} pods, {min(wish.at_once, wish.parts)} at a time, each of {wish.cpu:g} CPUs and {wish.memory} "
        f"memory, from the image {wish.image}. They have no access to the API of the cluster."
    )
    if not agree(yes, said):
        raise InputError(f"Nothing was done on the cluster {cluster!r}, because you did not agree.")
    console = terminal(sys.stderr, plain_width=200)
    state.sweep()
    with state.claim(state.free_name("crash-job")) as run:
        parts = run_job(
            run, config, wish, lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True)
        )
        return report(parts, target)


def _options(scenarios: Sequence[str], everything: bool, workers: int | None, budget: str | None) -> tuple[str, ...]:
    """Arguments of `kuberay-e2e crash run` in each pod, which has no files of the user."""
    from kuberay_e2e.crash import catalogue

    for name in scenarios:
        if name not in catalogue.BY_NAME:
            raise InputError(
                f"There is no scenario called {name!r}; the scenarios are {', '.join(catalogue.BY_NAME)}. A manifest "
                "of your own cannot be run in the pods of a Job."
            )
    options = [word for name in scenarios for word in ("--scenario", name)]
    options += ["--all"] if everything else []
    options += ["--workers", str(workers)] if workers is not None else []
    options += ["--time-budget", budget] if budget is not None else []
    return tuple(options)


def _checked(option: str, text: str, pattern: str, expected: str) -> str:
    if not re.fullmatch(pattern, text):
        raise InputError(f"Expected {option} as {expected}, got {text!r}.")
    return text
