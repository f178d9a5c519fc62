"""A sweep on a real kind cluster: the operator is a local process behind the gateway, pods and Ray are real."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.real_ground import RealGround
from kuberay_e2e.crash.sweep import Sweep
from kuberay_e2e.gateway import Position
from kuberay_e2e.session import OperatorKind, kind
from kuberay_e2e.state import Run
from kuberay_e2e.targets import kind_needs
from kuberay_toolchain.toolchain import Toolchain

AT_ONCE = 2
"""Runs side by side: a real Ray head needs most of a CPU while it starts."""

SCENARIOS = (
    "k8sjob",
    "http",
    "sidecar",
    "ttl",
    "rules",
    "rules-none",
    "on-success",
    "on-failure",
    "app-fails",
    "app-fails-k8sjob",
    "app-retried",
    "suspend-resume",
    "created-suspended",
    "delete-running",
    "delete-complete",
)
"""Those of the catalogue that run on real pods.

The others have deadlines of seconds, which a real head needs for its start, submitters that fail when they are told to,
or a user who speaks to a simulated Ray.
"""

_CREATIONS = ("create:RayCluster", "submit:RayJobs", "create:Job")


@contextmanager
def sweeping_on_kind(run: Run, toolchain: Toolchain) -> Iterator[Sweep]:
    """A kind cluster with CRDs and operator applied, ready for runs.

    Args:
        run: Owns folders, processes and containers.
        toolchain: Where programs and images are.

    Raises:
        HarnessError: Something did not come up, or the machine lacks what it takes.
        ToolchainError: A program or an image is missing and cannot be made.
    """
    programs, images = kind_needs(toolchain, OperatorKind.LOCAL)
    with kind(run, programs, images, operator=OperatorKind.LOCAL) as session:
        session.install()
        yield Sweep(RealGround(session, run.path("submitters")), programs, run.path("runs"))


def subset(points: Sequence[Point]) -> tuple[Point, ...]:
    """What of a plan is run on real pods: of each scenario its creation of work committed and lost, and its last write.

    A run takes a minute there, and a second beside others on simulated pods, which make the same writes. The scenarios
    take turns: in SidecarMode KubeRay's submitter asks for half a CPU, and a small node has not enough for two of them.

    Args:
        points: The plan.
    """
    turns = []
    for scenario in dict.fromkeys(point.scenario for point in points):
        plain = [point for point in points if point.scenario == scenario and not point.variants]
        works = [point for point in plain if str(point.write).startswith(_CREATIONS)]
        last = [point for point in plain if point.position is Position.COMMITTED][-1:]
        chosen: list[Point] = []
        for position in (Position.COMMITTED, Position.LOST):
            chosen += [point for point in works if point.position is position][-1:]
        turns.append([*chosen, *(point for point in last if point not in chosen)])
    return tuple(point for turn in zip_longest(*turns) for point in turn if point is not None)
