"""How long it takes to render a stack with many RayJobs, and to check the folder.

`python -m tests.gitops.bench` prints seconds for two sizes, which shows that both grow no faster than the stack. The
stack installs KubeRay and Kueue, too: their CRDs are most of the text.
"""

import tempfile
import time
from collections.abc import Mapping
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


def measure(jobs: int, place: Path) -> tuple[float, float]:
    """Return the seconds of a render and of a check."""
    toolchain = Toolchain(progress=Silent())
    order = Order("dev", project(place / "project", stack(jobs)), Layout.ARGOCD, repository=REPOSITORY)
    started = time.monotonic()
    rendered = render(order, place / "out", toolchain)
    between = time.monotonic()
    assert rendered.objects > jobs
    checking.check(Tree.read(place / "out"), checking.Choices())
    return between - started, time.monotonic() - between


def main() -> None:
    """Measure and print."""
    for jobs in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            seconds = measure(jobs, Path(folder))
        aim = f"  (aim {AIM_SECONDS:.0f} s)" if jobs == max(SIZES) else ""
        for what, taken in zip(("render", "check"), seconds, strict=True):
            print(f"{taken:7.2f} s{aim}  {what} of a stack with {jobs} RayJobs, operator and Kueue")


if __name__ == "__main__":
    main()
