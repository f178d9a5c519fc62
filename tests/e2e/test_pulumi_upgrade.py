"""An upgrade of KubeRay by `pulumi up` with live RayJobs: CRDs first, then the operator, both versions as binaries."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml

from kuberay_e2e import state
from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.ray import Script
from kuberay_e2e.runs import programs_of
from kuberay_e2e.session import OPERATOR_VERSION, Session, embedded
from kuberay_toolchain.toolchain import Toolchain
from tests.e2e.jobs import Job, rayjob

pytestmark = pytest.mark.e2e

OLD = "1.5.1"
NAMESPACE = "jobs"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayjobs.ray.io"


@pytest.fixture
def scripts() -> Scripts:
    return Scripts()


@pytest.fixture
def session(scripts: Scripts) -> Iterator[Session]:
    """A cluster with the old operator on it."""
    programs = programs_of(Toolchain(), OLD)
    with (
        state.claim(state.free_name("upgrade")) as run,
        embedded(run, programs, script=scripts) as session,
    ):
        session.install(OLD)
        session.start_operator()
        yield session


def spec_fields(session: Session) -> set[str]:
    """Fields of a RayJob's spec that the CRD knows."""
    with session.access.client() as client:
        [version] = [found for found in client.get(CRD).json()["spec"]["versions"] if found["name"] == "v1"]
    return set(version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"])


def test_live_jobs_come_through(session: Session, scripts: Scripts, tmp_path: Path) -> None:
    over = Event()
    scripts.set("python long.py", Script(duration=1.0, until=over))
    running = rayjob(NAMESPACE, "running", entrypoint="python long.py", shutdownAfterJobFinishes=True)
    suspended = rayjob(NAMESPACE, "suspended", suspend=True, shutdownAfterJobFinishes=True)
    (tmp_path / "jobs.yaml").write_text(yaml.safe_dump_all([running, suspended]))
    config: dict[str, Any] = {
        "versions": {"kuberay": OLD},
        "namespaces": [NAMESPACE],
        "namespace": NAMESPACE,
        "manifests": [str(tmp_path / "jobs.yaml")],
    }
    session.stacks.jobs.apply(config)
    jobs = [Job.find(session, NAMESPACE, name) for name in ("running", "suspended")]
    before = jobs[0].wait_status("Running")
    jobs[1].wait_status("Suspended")
    specs = [job.read()["spec"] for job in jobs]
    assert "preRunningDeadlineSeconds" not in spec_fields(session)

    session.install(OPERATOR_VERSION)
    assert "preRunningDeadlineSeconds" in spec_fields(session)
    session.stop_operator()
    session.start_operator()
    versions = [e.data["version"] for e in session.trace.events("operator") if e.data["event"] == "started"]
    assert versions == [OLD, OPERATOR_VERSION]

    config["versions"] = {"kuberay": OPERATOR_VERSION}
    assert set(session.stacks.jobs.apply(config).resources) == {"unchanged"}
    assert [job.read()["spec"] for job in jobs] == specs
    assert jobs[1].read()["status"]["jobDeploymentStatus"] == "Suspended"
    over.set()
    assert jobs[0].wait_end().succeeded
    after = jobs[0].read()["status"]
    kept = ("jobId", "rayClusterName", "startTime")
    assert [after[field] for field in kept] == [before[field] for field in kept]
    assert jobs[0].starts() == 1

    session.uninstall()
    for job in jobs:
        job.wait_gone()
    assert jobs[0].judge() == []
