"""What operator and Kueue write in every state, recorded anew: the health is that of the stored recordings.

`KUBERAY_RECORD=1` stores the recordings in `tests/gitops/snapshots`.
"""

import json
import os
import time
from collections.abc import Iterator

import pytest

from kuberay_e2e.gitops.health import documents
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.ray import Script
from kuberay_e2e.session import Session
from tests.gitops.evaluators import argocd, flux
from tests.gitops.scene import FAILING_SUBMITTER, KUEUE, NOWHERE, RAY, REFUSED, Scene
from tests.gitops.states import STATES, Item, State, snapshot
from tests.gitops.versions import Versions

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

PATIENCE = 300.0
"""Seconds from the start of all jobs until the last state, on a loaded machine."""


@pytest.fixture
def scene(
    kuberay_session: Session, kuberay_kueue: KueueRunner, kuberay_namespace: str, kuberay_scripts: Scripts
) -> Iterator[Scene]:
    assert kuberay_kueue.ready == 1
    made = Scene(kuberay_session.access, kuberay_namespace, kuberay_scripts)
    yield made
    made.close()


@pytest.fixture
def versions(kuberay_session: Session, kuberay_namespace: str) -> Iterator[Versions]:
    inside = {RAY: ("rayjobs", "rayclusters", "rayservices"), KUEUE: ("localqueues", "workloads")}
    paths = [
        f"{root}/namespaces/{kuberay_namespace}/{plural}" for root, plurals in inside.items() for plural in plurals
    ]
    with Versions(kuberay_session.access, [*paths, f"{KUEUE}/clusterqueues"]) as seen:
        yield seen


def test_every_state_is_as_it_was_recorded(kuberay_operator: OperatorProcess, scene: Scene, versions: Versions) -> None:
    assert kuberay_operator.running
    deadline = time.monotonic() + PATIENCE

    def find(state: State) -> Item | None:
        def holds(item: Item) -> bool:
            return item["kind"] == state.kind and _named(item, state, scene.namespace) and state.holds(item)

        return versions.wait(holds, deadline)

    def seen(file: str, kind: str) -> None:
        [state] = [state for state in STATES if (state.file, state.kind) == (file, kind)]
        assert find(state), f"{state.path.stem} was not seen"

    _start(scene)
    seen("running", "RayJob")
    scene.go_on.set()
    seen("complete-succeeded", "RayJob")
    scene.delete("RayJob", "succeeds")
    seen("ready", "RayCluster")
    for pod in scene.pods("plain"):
        scene.delete("Pod", pod)
    seen("head-lost", "RayCluster")
    scene.patch("rayclusters", "plain", {"spec": {"suspend": True}})
    put_off = versions.wait(
        lambda item: item["kind"] == "Workload" and item["metadata"]["name"].startswith("rayjob-put-off-"), deadline
    )
    assert put_off, "put-off has no Workload"
    scene.patch("workloads", put_off["metadata"]["name"], {"spec": {"active": False}})

    found = {state: find(state) for state in STATES}
    recorded = {state: snapshot(item, scene.namespace) for state, item in found.items() if item}
    if os.environ.get("KUBERAY_RECORD"):
        for state, item in recorded.items():
            state.path.write_text(json.dumps(item, indent=1, sort_keys=True) + "\n")
    assert not [state.path.stem for state, item in found.items() if item is None]
    health = {state.path.stem: _health(item) for state, item in recorded.items()}
    assert health == {state.path.stem: (state.argocd, state.flux) for state in STATES}
    assert health == {state.path.stem: _health(state.read()) for state in STATES}


def _start(scene: Scene) -> None:
    scene.refuse()
    scene.queues()
    scene.job("succeeds", Script(pending=15.0, duration=1.0, until=scene.go_on))
    scene.job("stopped", Script(duration=0.5, end="STOPPED"))
    scene.job("fails", Script(duration=0.5, end="FAILED"), backoffLimit=1)
    scene.job("unsubmitted", submitterPodTemplate=FAILING_SUBMITTER, submitterConfig={"backoffLimit": 0})
    scene.job("too-long", Script(duration=600), activeDeadlineSeconds=15)
    scene.job("invalid", backoffLimit=-1)
    scene.job("interactive", submissionMode="InteractiveMode")
    scene.job("by-hand", suspend=True, shutdownAfterJobFinishes=True)
    scene.late_job("too-late", NOWHERE, preRunningDeadlineSeconds=45)
    scene.late_job("no-pods", REFUSED)
    scene.cluster("plain")
    scene.cluster("refused", REFUSED)
    scene.service("serve")
    scene.service("invalid", fewest_workers=2)
    scene.queued_job("admitted", 1, Script(end="FAILED", until=scene.go_on))
    scene.queued_job("queued", 1)
    scene.queued_job("misplaced", 1, queue="astray")
    scene.queued_job("put-off", 1)


def _named(item: Item, state: State, namespace: str) -> bool:
    name = str(item["metadata"]["name"])
    if state.kind == "Workload":
        return name.startswith(f"{state.name}-")
    return name == (f"{namespace}-{state.name}" if state.kind == "ClusterQueue" else state.name)


def _health(item: Item) -> tuple[str, str]:
    scripts = documents.argocd()["data"]
    [script] = [text for name, text in scripts.items() if name.endswith(f"_{item['kind']}")]
    [entry] = [entry for entry in documents.flux() if entry["kind"] == item["kind"]]
    return argocd(script, item).status, flux(entry, item)
