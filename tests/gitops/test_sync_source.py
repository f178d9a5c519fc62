"""The source that Flux fetches manifests from, and how what it says of a sync is read."""

import hashlib
import io
import tarfile
from pathlib import Path

import httpx
import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gitops.sync import KustomizeController, Source, Sync
from kuberay_e2e.gitops.sync.source import archive, crds

FILES = {"b.yaml": "kind: B\n", "a/a.yaml": "kind: A\n"}


def test_an_archive_is_the_same_for_the_same_files() -> None:
    assert archive(FILES) == archive(dict(reversed(FILES.items())))
    with tarfile.open(fileobj=io.BytesIO(archive(FILES))) as tar:
        assert tar.getnames() == ["a/a.yaml", "b.yaml"]
        member = tar.extractfile("a/a.yaml")
        assert member is not None and member.read() == b"kind: A\n"


def test_what_is_published_is_served_under_its_digest() -> None:
    with Source() as source:
        artifact = source.publish(FILES)
        answer = httpx.get(artifact["url"], trust_env=False)
        assert answer.is_success
        assert artifact["digest"] == f"sha256:{hashlib.sha256(answer.content).hexdigest()}"
        assert artifact["size"] == len(answer.content)
        assert source.publish({"c.yaml": "kind: C\n"})["revision"] != artifact["revision"]
        assert httpx.get(artifact["url"], trust_env=False).is_success, "an older revision stays"
        assert httpx.get(f"{artifact['url']}x", trust_env=False).status_code == 404


def test_the_crds_are_of_the_kinds_that_the_controller_watches() -> None:
    names = {crd["metadata"]["name"] for crd in crds()}
    assert names == {
        f"{plural}.source.toolkit.fluxcd.io" for plural in ("buckets", "gitrepositories", "ocirepositories")
    }


def test_a_kustomization_without_a_status_has_said_nothing() -> None:
    assert Sync.of({}) == Sync("Unknown", "", "", "", ())


def test_a_sync_is_read_from_the_ready_condition_and_the_inventory() -> None:
    conditions = [
        {"type": "Reconciling", "status": "True", "reason": "Progressing", "message": ""},
        {"type": "Ready", "status": "False", "reason": "HealthCheckFailed", "message": "timeout"},
    ]
    inventory = {"entries": [{"id": "ns_b_ray.io_RayJob", "v": "v1"}, {"id": "ns_a_ray.io_RayJob", "v": "v1"}]}
    status = {"conditions": conditions, "inventory": inventory, "lastAppliedRevision": "main@sha1:0"}
    assert Sync.of({"status": status}) == Sync(
        "False", "HealthCheckFailed", "timeout", "main@sha1:0", ("ns_a_ray.io_RayJob", "ns_b_ray.io_RayJob")
    )


def test_a_controller_that_ends_at_once_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "controller"
    program.write_text("#!/bin/sh\necho no cluster there\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(HarnessError, match="kustomize-controller ended with 3 right after its start: no cluster there"):
        KustomizeController(program, tmp_path / "kubeconfig", tmp_path / "folder", "test").start()
