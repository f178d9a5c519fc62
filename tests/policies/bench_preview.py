"""How long the policies take: in a preview of a stack with 50 RayJobs, and by themselves.

`python -m tests.policies.bench_preview` prints seconds; `make bench` calls it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from kuberay_policies.evaluation import evaluate
from kuberay_policies.program.preview import preview
from kuberay_policies.program.project import Project
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Subject
from tests.model.rayjobs import good, put
from tests.policies.projects import FORMS, state, workspace

JOBS = 50
AIM_SECONDS = 30.0

_PROGRAM = """
from tests.model.rayjobs import good, put
from pulumi_kuberay import KubernetesObject

for number in range({jobs}):
    KubernetesObject(f"job-{{number}}", good(put("metadata.name", f"job-{{number}}")))
"""


def jobs() -> list[Subject]:
    """The RayJobs of the stack."""
    return [Subject(good(put("metadata.name", f"job-{number}"))) for number in range(JOBS)]


def measure() -> dict[str, float]:
    """Seconds by what was measured."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        space = workspace(place)
        for form, pack in FORMS.items():
            started = time.monotonic()
            done = space.analyze(pack, state(jobs()))
            found[f"pulumi policy analyze, {JOBS} RayJobs, pack as {form}"] = time.monotonic() - started
            if "Policies:" not in done.output:
                raise RuntimeError(f"Expected the findings of {JOBS} RayJobs, got: {done.output}")
        space.write(_PROGRAM.format(jobs=JOBS))
        (place / "Pulumi.dev.yaml").write_text("config: {}\n")
        started = time.monotonic()
        declared = preview(Project.read(place, "dev")).subjects
        evaluate(declared, Settings())
        found[f"kuberay-policies preview, {JOBS} RayJobs"] = time.monotonic() - started
    started = time.monotonic()
    evaluate(jobs(), Settings())
    found[f"all policies on {JOBS} RayJobs, without Pulumi"] = time.monotonic() - started
    return found


if __name__ == "__main__":
    for what, seconds in measure().items():
        print(f"{seconds:7.2f} s  (aim {AIM_SECONDS:.0f} s)  {what}")
