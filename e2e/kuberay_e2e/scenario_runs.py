"""What runs of scenarios have in common: what they are made with, and what is told of each verdict."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from rich.console import Console

from kuberay_e2e.operator_process import OperatorSpec
from kuberay_e2e.session import OPERATOR, Session
from kuberay_e2e.verdicts import State, Verdict

_MARKS = {
    State.HELD: "[green]held[/]",
    State.DEVIATES: "[yellow]deviates[/]",
    State.VIOLATED: "[red]VIOLATED[/]",
    State.ERROR: "[red]ERROR[/]",
}


def facts_of(session: Session, *, ray: str, cluster: str) -> Mapping[str, str]:
    """What a run is made with.

    Args:
        session: The session, with the operator applied.
        ray: Which Ray runs the jobs.
        cluster: The cluster in words, put after the version of Kubernetes.
    """
    with session.access.client() as client:
        kubernetes = client.get("/version").json()["gitVersion"]
    return {
        "KubeRay operator": OperatorSpec.read(session.access, session.operator_namespace, OPERATOR).version,
        "Ray": ray,
        "Kubernetes": f"{kubernetes}, {cluster}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def telling(console: Console, width: int) -> Callable[[Verdict], None]:
    """A function that writes a line for a verdict, and why it is none to be content with.

    Args:
        console: Where to write.
        width: Columns of the scenarios' names.
    """

    def tell(verdict: Verdict) -> None:
        deviations = f"  {', '.join(verdict.deviation)}" if verdict.deviation else ""
        line = f"{verdict.name:{width}} {_MARKS[verdict.state]} {verdict.seconds:6.1f} s{deviations}"
        console.print(line, highlight=False)
        if verdict.state in (State.VIOLATED, State.ERROR):
            console.print(f"   {verdict.seen}", style="red", markup=False, highlight=False, soft_wrap=True)

    return tell
