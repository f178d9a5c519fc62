"""How long it takes to render a stack with many RayJobs, and to check the folder.

`python -m tests.gitops.bench` prints seconds for two sizes, which shows that both grow no faster than the stack. The
stack installs KubeRay and Kueue, too: their CRDs are most of the text.
"""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_e2e.gitops import checking
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.rendering import Order, render
from kuberay_e2e.gitops.tree import Tree
from kuberay_toolchain import Silent, Toolchain
from tests.gitops.stacks import REPOSITORY, project

SIZES = (50, 200)
"""Numbers of RayJobs."""

AIM_SECONDS = 10.0
"""Most seconds for the larger stack, for each of the two."""


def stack(jobs: int) -> Mapping[str, Any]:
    """The configuration of a stack with operator, Kueue, a queue and RayJobs."""
    resources = [{"name": "cpu", "nominalQuota": "64"}, {"name": "memory", "nominalQuota": "256Gi"}]
    return {
        "versions": {"kuberay": "1.6.2", "kueue": "0.19.2", "ray": "2.52.0"},
        "namespaces": ["ray-jobs"],
        "namespace": "ray-jobs",
        "crds": {},
        "operator": {"namespace": "ray-system"},
        "kueue": {},
        "flavors": {"default": {}},
        "clusterQueues": {"all": {"resourceGroups": [{"flavors": [{"name": "default", "resources": resources}]}]}},
        "localQueues": {"all": {"clusterQueue": "all"}},
        "rayJobs": {
            f"job-{number:03}": {
                "entrypoint": f"python train.py --part {number}",
                "scheduling": {"queue": {"name": "all"}},
                "cluster": {"tokenAuth": {}, "workers": [{"name": "cpu", "replicas": 2}]},
            }
            for number in range(jobs)
        },
    }


@dataclass(frozen=True)
class Taken:
    """What something took.

    Attributes:
        seconds: Wall time.
        processor: Processor time of this process and of those that it started, which a loaded machine changes less.
    """

    seconds: float
    processor: float


def measure(jobs: int, place: Path) -> Mapping[str, Taken]:
    """Return what a render and a check take."""
    order = Order("dev", project(place / "project", stack(jobs)), Layout.ARGOCD, repository=REPOSITORY)
    out = place / "out"
    return {
        "render": _taken(lambda: render(order, out, Toolchain(progress=Silent()))),
        "check": _taken(lambda: checking.check(Tree.read(out), checking.Choices())),
    }


def _taken(work: Callable[[], object]) -> Taken:
    before, started = _processor(), time.monotonic()
    work()
    return Taken(time.monotonic() - started, _processor() - before)


def _processor() -> float:
    return sum(os.times()[:4])


def main() -> None:
    """Measure and print."""
    for jobs in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(jobs, Path(folder))
        aim = f"aim {AIM_SECONDS:.0f} s, " if jobs == max(SIZES) else ""
        for what, taken in found.items():
            told = f"{what} of a stack with {jobs} RayJobs, operator and Kueue"
            print(f"{taken.seconds:7.2f} s  ({aim}processor {taken.processor:.1f} s)  {told}")


if __name__ == "__main__":
    main()
