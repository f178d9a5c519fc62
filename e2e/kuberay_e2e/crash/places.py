"""Where a campaign's runs take place: on simulated pods, which is the rule, or on a real kind cluster."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e.crash import on_kind
from kuberay_e2e.crash.lives import BEFORE_UPGRADE
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.store import SweepFolder
from kuberay_e2e.crash.sweep import Sweep, sweeping
from kuberay_e2e.state import Run
from kuberay_e2e.targets import programs_of
from kuberay_toolchain.toolchain import Toolchain

MEMORY = SweepFolder(Path(__file__).with_name("memory"))
"""What was learned of the catalogue's scenarios on simulated pods, so that a short sweep need not begin with it."""


@dataclass(frozen=True)
class Place:
    """A kind of cluster for runs.

    Attributes:
        open: Makes one, which goes when the block ends.
        workers: How many runs it takes at a time unless it is told.
        learning_runs: How many runs without a fault a scenario is learned from.
        subset: What of a plan is run there unless all of it is asked for.
        memory: What is known already; None where nothing is.
        upgrades: Whether the release before runs there, too.
    """

    open: Callable[[Run], AbstractContextManager[Sweep]]
    workers: int
    learning_runs: int
    subset: Callable[[Sequence[Point]], Sequence[Point]]
    memory: SweepFolder | None = None
    upgrades: bool = True


EMBEDDED = Place(
    lambda run: sweeping(run, programs_of(Toolchain(), BEFORE_UPGRADE)),
    workers=6,
    learning_runs=3,
    subset=lambda points: points,
    memory=MEMORY,
)
"""An embedded control plane with simulated pods and a simulated Ray."""

KIND = Place(
    lambda run: on_kind.sweeping_on_kind(run, Toolchain()),
    workers=on_kind.AT_ONCE,
    learning_runs=2,
    subset=on_kind.subset,
    upgrades=False,
)
"""A real kind cluster with real pods and real Ray."""
