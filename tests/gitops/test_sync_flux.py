"""What a sync of Flux does to RayJobs, by Flux's own kustomize-controller: nothing runs twice, nothing is lost."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml

from kuberay_e2e.gitops import job_run
from kuberay_e2e.gitops.health import documents
from kuberay_e2e.gitops.layout import FLUX_PRUNE, FLUX_SSA
from kuberay_e2e.gitops.sync import Flux, KustomizeController
from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.ray import Script
from kuberay_e2e.session import Session
from tests.e2e.jobs import PATIENCE, Job, rayjob
from tests.gitops.scene import QUEUE_NAME, asking

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

KUEUE = "kueue.x-k8s.io/v1beta2"
HEALTH = documents.flux()
Manifest = dict[str, Any]


def run_of(namespace: str, name: str, entrypoint: str, **spec: Any) -> Manifest:
    """A RayJob as it is rendered for Flux: its run is in its name, and it is applied once."""
    manifest = job_run.as_run(rayjob(namespace, name, entrypoint=entrypoint, **spec), "", named=False)
    annotations = {**manifest["metadata"]["annotations"], FLUX_SSA: "IfNotPresent"}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def queued(manifest: Manifest) -> Manifest:
    """A RayJob that asks for two CPUs, and half a CPU for its submitter, in the queue of its namespace."""
    metadata = {**manifest["metadata"], "labels": {QUEUE_NAME: "queue"}}
    spec = {
        **manifest["spec"],
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": asking(manifest["spec"]["rayClusterSpec"], "1"),
    }
    return {**manifest, "metadata": metadata, "spec": spec}


def queues(namespace: str, cpus: str) -> list[Manifest]:
    """A ResourceFlavor, a ClusterQueue and a LocalQueue."""
    resources = [{"name": "cpu", "nominalQuota": cpus}, {"name": "memory", "nominalQuota": "16Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": namespace, "resources": resources}]}
    return [
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": namespace}},
        {
            "apiVersion": KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": namespace},
            "spec": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "resourceGroups": [group],
            },
        },
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": "queue", "namespace": namespace},
            "spec": {"clusterQueue": namespace},
        },
    ]


def files(*manifests: Mapping[str, Any]) -> dict[str, str]:
    """One object a file."""
    return {
        f"{manifest['kind'].lower()}-{manifest['metadata']['name']}.yaml": yaml.safe_dump(dict(manifest))
        for manifest in manifests
    }


def name_of(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def starts(session: Session, entrypoint: str) -> int:
    """How often Ray began to run an entrypoint, whatever RayJob it was for."""
    return sum(entry.event.entrypoint == entrypoint for entry in session.ledger.starts())


@pytest.fixture
def entrypoint(kuberay_namespace: str) -> str:
    return f"python {kuberay_namespace}.py"


@pytest.fixture
def release(entrypoint: str, kuberay_scripts: Scripts) -> Iterator[Event]:
    """Lets the job of the test end."""
    event = Event()
    kuberay_scripts.set(entrypoint, Script(duration=0.5, until=event))
    yield event
    event.set()


def versions(session: Session, namespace: str) -> dict[str, str]:
    """Versions of the objects that a stack declares."""
    paths = [
        f"/apis/ray.io/v1/namespaces/{namespace}/rayjobs",
        f"/apis/{KUEUE}/namespaces/{namespace}/localqueues",
        f"/apis/{KUEUE}/clusterqueues/{namespace}",
        f"/apis/{KUEUE}/resourceflavors/{namespace}",
    ]
    found = {}
    with session.access.client() as client:
        for path in paths:
            answer = client.get(path).json()
            for item in answer.get("items", [answer]):
                found[f"{path}/{item['metadata']['name']}"] = item["metadata"]["resourceVersion"]
    return found


def settled(session: Session, namespace: str) -> dict[str, str]:
    """The versions once they have stayed the same for three seconds: queues count what jobs give back."""
    deadline = time.monotonic() + PATIENCE
    found = versions(session, namespace)
    while True:
        time.sleep(3)
        before, found = found, versions(session, namespace)
        if before == found:
            return found
        assert time.monotonic() < deadline, found


def test_a_second_sync_changes_nothing_after_operator_and_kueue_have_run(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_kueue: KueueRunner,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
) -> None:
    assert kuberay_operator.running and kuberay_kueue.ready == 1
    in_queue = queued(run_of(kuberay_namespace, "in-queue", entrypoint))
    free = run_of(kuberay_namespace, "free", entrypoint, shutdownAfterJobFinishes=True)
    flux.publish("stack", files(in_queue, free, *queues(kuberay_namespace, "3")))
    flux.declare("stack", wait=True, healthCheckExprs=HEALTH, timeout="3m")
    first = flux.sync("stack", 200)
    assert (first.ready, first.reason) == ("True", "ReconciliationSucceeded"), first
    for manifest in (in_queue, free):
        job = Job.find(kuberay_session, kuberay_namespace, name_of(manifest))
        assert job.wait_end().succeeded
        job.wait_cluster_gone()
    before = settled(kuberay_session, kuberay_namespace)
    assert len(before) == 5

    second = flux.sync("stack")
    assert second == first
    assert versions(kuberay_session, kuberay_namespace) == before
    assert starts(kuberay_session, entrypoint) == 2


def test_a_job_that_is_applied_each_time_loses_what_kueue_wrote_which_is_why_it_is_applied_once(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_kueue: KueueRunner,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
    release: Event,
) -> None:
    assert kuberay_operator.running and kuberay_kueue.ready == 1
    each_time = queued(run_of(kuberay_namespace, "each-time", entrypoint))
    del each_time["metadata"]["annotations"][FLUX_SSA]
    flux.publish("stack", files(each_time, *queues(kuberay_namespace, "3")))
    flux.declare("stack")
    flux.sync("stack")
    job = Job.find(kuberay_session, kuberay_namespace, name_of(each_time))
    job.wait_start()
    assert worker_labels(job), "Kueue labels the workers of a job that it admits"
    assert flux.sync("stack").ready == "True"
    assert not worker_labels(job), "the list of worker groups is applied as one"
    release.set()
    assert job.wait_end().succeeded
    assert starts(kuberay_session, entrypoint) == 1


def worker_labels(job: Job) -> Mapping[str, str]:
    [group] = job.read()["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    found: Mapping[str, str] = (group["template"].get("metadata") or {}).get("labels") or {}
    return found


def test_an_edit_of_the_spec_is_a_new_run_and_the_old_one_goes(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
) -> None:
    assert kuberay_operator.running
    before, after = (run_of(kuberay_namespace, "train", f"{entrypoint}{more}") for more in ("", " --epochs 2"))
    assert name_of(before) != name_of(after)
    flux.declare("stack")
    for manifest in (before, after):
        revision = flux.publish("stack", files(manifest))
        assert flux.sync("stack").revision == revision
        assert Job.find(kuberay_session, kuberay_namespace, name_of(manifest)).wait_end().succeeded
    left = [item["metadata"]["name"] for item in kuberay_session.reader.list("RayJob", kuberay_namespace)]
    assert left == [name_of(after)]
    assert [starts(kuberay_session, item["spec"]["entrypoint"]) for item in (before, after)] == [1, 1]


def test_a_job_whose_cluster_the_ttl_has_removed_is_not_run_again(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
) -> None:
    assert kuberay_operator.running
    manifest = run_of(kuberay_namespace, "train", entrypoint, shutdownAfterJobFinishes=True, ttlSecondsAfterFinished=1)
    flux.publish("stack", files(manifest))
    flux.declare("stack")
    flux.sync("stack")
    job = Job.find(kuberay_session, kuberay_namespace, name_of(manifest))
    assert job.wait_end().succeeded
    job.wait_cluster_gone()
    for _ in range(2):
        assert flux.sync("stack").ready == "True"
    assert Job.find(kuberay_session, kuberay_namespace, name_of(manifest)).uid == job.uid
    assert outcomes(kuberay_session, kuberay_namespace) == {name_of(manifest): "SUCCEEDED"}
    assert starts(kuberay_session, entrypoint) == 1


def outcomes(session: Session, namespace: str) -> dict[str, str]:
    found = session.reader.list("RayJob", namespace)
    return {item["metadata"]["name"]: str((item.get("status") or {}).get("jobStatus", "")) for item in found}


def test_a_job_that_deletes_itself_is_run_again_which_is_why_the_check_refuses_it(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
) -> None:
    assert kuberay_operator.running
    rule = {"policy": "DeleteSelf", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 0}}
    manifest = run_of(kuberay_namespace, "train", entrypoint, deletionStrategy={"deletionRules": [rule]})
    flux.publish("stack", files(manifest))
    flux.declare("stack")
    for runs in (1, 2):
        flux.sync("stack")
        deadline = time.monotonic() + PATIENCE
        while starts(kuberay_session, entrypoint) < runs or outcomes(kuberay_session, kuberay_namespace):
            assert time.monotonic() < deadline, outcomes(kuberay_session, kuberay_namespace)
            time.sleep(0.2)
    assert starts(kuberay_session, entrypoint) == 2


def test_prune_takes_nothing_with_state(kuberay_session: Session, kuberay_namespace: str, flux: Flux) -> None:
    def config_map(name: str) -> Manifest:
        meta = {"name": name, "namespace": kuberay_namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"key": "value"}}

    claim: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": kuberay_namespace, "annotations": {FLUX_PRUNE: "disabled"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    flux.publish("stack", files(claim, config_map("stays"), config_map("goes")))
    flux.declare("stack")
    assert len(flux.sync("stack").inventory) == 3

    flux.publish("stack", files(config_map("stays")))
    assert len(flux.sync("stack").inventory) == 1
    assert present(kuberay_session, kuberay_namespace) == {"data", "stays"}
    flux.remove("stack")
    assert present(kuberay_session, kuberay_namespace) == {"data"}


def present(session: Session, namespace: str) -> set[str]:
    """Names of the ConfigMaps and PersistentVolumeClaims that are there and are not being deleted."""
    found = set()
    with session.access.client() as client:
        for plural in ("configmaps", "persistentvolumeclaims"):
            for item in client.get(f"/api/v1/namespaces/{namespace}/{plural}").json()["items"]:
                if "deletionTimestamp" not in item["metadata"]:
                    found.add(item["metadata"]["name"])
    return found - {"kube-root-ca.crt"}


def test_an_operator_that_is_killed_during_a_sync_delays_it_and_nothing_runs_twice(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
    release: Event,
) -> None:
    manifest = run_of(kuberay_namespace, "train", entrypoint)
    revision = flux.publish("stack", files(manifest))
    flux.declare("stack", wait=True, healthCheckExprs=HEALTH, timeout="3m")
    deadline = time.monotonic() + PATIENCE
    while not starts(kuberay_session, entrypoint):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    kuberay_operator.kill()
    release.set()
    assert flux.read("stack").ready != "True"
    kuberay_session.start_operator()
    done = flux.wait_applied("stack", revision, 200)
    assert done.inventory == (f"{kuberay_namespace}_{name_of(manifest)}_ray.io_RayJob",)
    assert outcomes(kuberay_session, kuberay_namespace) == {name_of(manifest): "SUCCEEDED"}
    assert starts(kuberay_session, entrypoint) == 1


def test_a_controller_that_is_killed_during_a_sync_goes_on_and_nothing_runs_twice(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kustomize_controller: KustomizeController,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
    release: Event,
) -> None:
    assert kuberay_operator.running
    manifest = run_of(kuberay_namespace, "train", entrypoint)
    revision = flux.publish("stack", files(manifest))
    flux.declare("stack", wait=True, healthCheckExprs=HEALTH, timeout="3m")
    deadline = time.monotonic() + PATIENCE
    while not starts(kuberay_session, entrypoint):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    kustomize_controller.kill()
    kustomize_controller.start()
    release.set()
    assert flux.wait_applied("stack", revision, 200).ready == "True"
    assert starts(kuberay_session, entrypoint) == 1


def test_suspended_and_queued_jobs_do_not_hold_a_sync(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_kueue: KueueRunner,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
) -> None:
    assert kuberay_operator.running and kuberay_kueue.ready == 1
    by_hand = run_of(kuberay_namespace, "by-hand", entrypoint, suspend=True, shutdownAfterJobFinishes=True)
    waiting = queued(run_of(kuberay_namespace, "waiting", entrypoint))
    flux.publish("stack", files(by_hand, waiting, *queues(kuberay_namespace, "1")))
    flux.declare("stack", wait=True, healthCheckExprs=HEALTH, timeout="2m")
    seen = flux.sync("stack", 150)
    assert (seen.ready, seen.reason) == ("True", "ReconciliationSucceeded"), seen
    assert starts(kuberay_session, entrypoint) == 0


def test_a_sync_waits_for_a_job_that_nobody_has_seen_yet(
    kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str, flux: Flux, entrypoint: str
) -> None:
    kuberay_operator.kill()
    flux.publish("stack", files(run_of(kuberay_namespace, "train", entrypoint)))
    flux.declare("stack", wait=True, healthCheckExprs=HEALTH, timeout="30s")
    seen = flux.sync("stack")
    assert (seen.ready, seen.reason) == ("False", "HealthCheckFailed"), seen
    assert "'Failed'" not in seen.message
    kuberay_session.start_operator()


def test_a_job_that_fails_fails_the_sync_at_once(
    kuberay_session: Session,
    kuberay_operator: OperatorProcess,
    kuberay_namespace: str,
    flux: Flux,
    entrypoint: str,
    kuberay_scripts: Scripts,
) -> None:
    assert kuberay_operator.running
    kuberay_scripts.set(entrypoint, Script(duration=0.5, end="FAILED"))
    flux.publish("stack", files(run_of(kuberay_namespace, "train", entrypoint)))
    flux.declare("stack", wait=True, healthCheckExprs=HEALTH, timeout="10m")
    seen = flux.sync("stack", 200)
    assert (seen.ready, seen.reason) == ("False", "HealthCheckFailed"), seen
    assert "status: 'Failed'" in seen.message
    assert starts(kuberay_session, entrypoint) == 1


def test_crds_are_upgraded_in_place_and_never_pruned(
    kuberay_session: Session, kuberay_namespace: str, flux: Flux
) -> None:
    from kuberay_toolchain.toolchain import Toolchain

    group = f"{kuberay_namespace}.example.com"
    name = f"rayjobs.{group}"
    old, new = (
        crd(Toolchain().files(f"kuberay-operator@{version}") / "config", group) for version in ("1.5.1", "1.6.2")
    )
    flux.publish("crds", old)
    flux.declare("crds", wait=True, timeout="2m")
    assert flux.sync("crds", 150).ready == "True"
    job = rayjob(kuberay_namespace, "kept", preRunningDeadlineSeconds=60)
    job["apiVersion"] = f"{group}/v1"
    path = f"/apis/{group}/v1/namespaces/{kuberay_namespace}/rayjobs"
    with kuberay_session.access.client() as client:
        try:
            made = client.post(path, json=job).json()
            assert "preRunningDeadlineSeconds" not in made["spec"], "KubeRay 1.5 does not know the field"
            flux.publish("crds", new)
            assert flux.sync("crds", 150).ready == "True"
            change = {"spec": {"preRunningDeadlineSeconds": 60}}
            headers = {"Content-Type": "application/merge-patch+json"}
            changed = client.patch(f"{path}/kept", json=change, headers=headers).json()
            assert changed["spec"]["preRunningDeadlineSeconds"] == 60
            assert changed["metadata"]["uid"] == made["metadata"]["uid"]
            flux.remove("crds")
            assert client.get(f"{path}/kept").is_success
        finally:
            client.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")


def crd(config: Path, group: str) -> dict[str, str]:
    """The CRD of RayJob in another API group, so that the one in use is left alone."""
    text = (config / "crd" / "bases" / "ray.io_rayjobs.yaml").read_text()
    changes = {
        "  annotations:\n": f"  annotations:\n    {FLUX_PRUNE}: disabled\n",
        "  name: rayjobs.ray.io\n": f"  name: rayjobs.{group}\n",
        "  group: ray.io\n": f"  group: {group}\n",
    }
    for before, after in changes.items():
        assert text.count(before) >= 1, before
        text = text.replace(before, after, 1)
    return {"rayjobs.yaml": text}
