"""How long the policies take: in a preview of a stack with 50 RayJobs, and by themselves.

`python -m tests.policies.bench_preview` prints seconds; `make bench` calls it. No cluster is asked: Pulumi's provider
previews RayJobs without one.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kuberay_policies.evaluation import evaluate
from kuberay_policies.program.preview import preview
from kuberay_policies.program.project import Project
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Subject
from kuberay_toolchain import Silent, Toolchain
from tests.model.rayjobs import good, put
from tests.policies.projects import FORMS, Workspace, workspace

JOBS = 50
AIM_SECONDS = 30.0
"""Most seconds of a preview with the policies."""

PROGRAM = f"""
from pulumi_kuberay import RayClusterTemplate, RayJob, RayJobArgs, TokenAuth, WorkerGroup

for number in range({JOBS}):
    cluster = RayClusterTemplate(token_auth=TokenAuth(), workers=[WorkerGroup(name="workers")])
    RayJob(f"job-{{number}}", RayJobArgs(namespace="ml", entrypoint="python train.py", cluster=cluster))
"""


def without_cluster(folder: Path) -> Workspace:
    """A workspace with Pulumi's Kubernetes provider and a kubeconfig that leads nowhere."""
    space = workspace(folder)
    programs = Toolchain(progress=Silent()).ensure("pulumi-resource-kubernetes")
    provider = programs["pulumi-resource-kubernetes"]
    folders = (str(Path(sys.executable).parent), str(space.pulumi.parent), str(provider.parent), os.environ["PATH"])
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\n")
    variables = {"PATH": os.pathsep.join(folders), "KUBECONFIG": str(kubeconfig)}
    space = replace(space, variables=variables)
    space.write(PROGRAM)
    space.settings({"environments": {"dev": {}}})
    return space


def measure() -> dict[str, float]:
    """Seconds by what was measured."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        space = without_cluster(place)
        _succeed(space, "stack", "init", "dev")
        asked = ("preview", "--stack", "dev", "--non-interactive")
        found[f"pulumi preview, {JOBS} RayJobs, no policies"] = _timed(lambda: _succeed(space, *asked))
        for form, pack in FORMS.items():
            command = (*asked, "--policy-pack", str(pack))
            found[f"pulumi preview, {JOBS} RayJobs, pack as {form}"] = _timed(
                lambda command=command: _succeed(space, *command)  # type: ignore[misc]
            )
        found[f"kuberay-policies preview, {JOBS} RayJobs"] = _timed(
            lambda: evaluate(preview(Project.read(place, "dev")).subjects, Settings())
        )
    jobs = [Subject(good(put("metadata.name", f"job-{number}"))) for number in range(JOBS)]
    found[f"all policies on {JOBS} RayJobs, without Pulumi"] = _timed(lambda: evaluate(jobs, Settings()))
    return found


def _succeed(space: Workspace, *arguments: str) -> None:
    done = space.run(*arguments)
    if done.code != 0:
        raise RuntimeError(f"pulumi {' '.join(arguments)} ended with {done.code}: {done.output[-4000:]}")


def _timed(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


if __name__ == "__main__":
    for what, seconds in measure().items():
        print(f"{seconds:7.2f} s  (aim {AIM_SECONDS:.0f} s)  {what}")
