"""What a person sees of a life cycle while it runs and at its end."""

import threading
import time

from rich.console import Console
from rich.table import Table

from kuberay_e2e.lifecycle.result import STEPS, Result, State, Step

_MARKS = {
    State.HELD: "[green]ok[/]",
    State.FAILED: "[red]FAILED[/]",
    State.ERROR: "[red]ERROR[/]",
    State.SKIPPED: "[dim]skipped[/]",
}


class Progress:
    """A line per step, with elapsed time; on a terminal the present step's line is live.

    Args:
        console: Where to write.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = console.status("") if console.is_terminal else None
        self._begun = 0.0
        self._title = ""
        self._note = ""
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None

    def begun(self, number: int) -> None:
        """Show that a step has begun."""
        self._title, self._begun, self._note = f"{number:>2} {STEPS[number]}", time.monotonic(), ""
        if self._status is not None:
            self._status.start()
            if self._ticker is None:
                self._ticker = threading.Thread(target=self._tick, daemon=True)
                self._ticker.start()

    def note(self, line: str) -> None:
        """Show what the present step is doing."""
        if line.strip():
            self._note = line.strip()[:80]

    def ended(self, step: Step) -> None:
        """Show how a step came out."""
        if self._status is not None:
            self._status.stop()
        seconds = "" if step.state is State.SKIPPED else f"{step.seconds:6.1f} s"
        self._console.print(f"{step.number:>2} {step.title:<52} {_MARKS[step.state]:<4} {seconds}", highlight=False)
        if step.state in (State.FAILED, State.ERROR):
            self._console.print(f"   {step.detail}", style="red", markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """End the live line."""
        self._over.set()
        if self._status is not None:
            self._status.stop()

    def _tick(self) -> None:
        while not self._over.wait(0.2):
            if self._status is not None:
                elapsed = time.monotonic() - self._begun
                self._status.update(f"{self._title} [{elapsed:.0f} s] [dim]{self._note}[/]")


def summary(console: Console, result: Result) -> None:
    """Print steps and invariants as tables, and where the time went."""
    steps = Table(
        "#",
        "step",
        "",
        "seconds",
        "seen",
        title=f"Life cycle of {result.source}, Ray {result.ray}",
        title_justify="left",
    )
    for step in result.steps:
        steps.add_row(str(step.number), step.title, _MARKS[step.state], f"{step.seconds:.1f}", _first_line(step.detail))
    console.print(steps)
    if result.invariants:
        table = Table("invariant", "", "seen", title=f"Operator disturbed at {result.fault}", title_justify="left")
        for item in result.invariants:
            table.add_row(item.name, _MARKS[State.HELD if item.held else State.FAILED], item.seen)
        console.print(table)
    for note in result.notes:
        console.print(note, highlight=False, soft_wrap=True)
    spent = result.spent
    console.print(
        f"{result.seconds:.1f} s in all: {spent.get('kuberay', 0):.1f} s waiting that KubeRay and the job impose, "
        f"{spent.get('pulumi', 0):.1f} s Pulumi, {spent.get('harness', 0):.1f} s the harness.",
        highlight=False,
    )


def _first_line(text: str) -> str:
    lines = text.splitlines()
    return lines[0] if lines else ""
