"""Kustomizations of Flux, and what came of their syncs."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
import yaml

from kuberay_e2e.access import Access
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gitops.sync.source import GROUP, VERSION, Source, crds

_SOURCES = f"/apis/{GROUP}/{VERSION}"
_KUSTOMIZATIONS = "/apis/kustomize.toolkit.fluxcd.io/v1"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_REQUESTED = "reconcile.fluxcd.io/requestedAt"
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_OWNER = {"fieldManager": "kuberay-e2e", "force": "true"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Sync:
    """What a Kustomization says after a sync.

    Attributes:
        ready: Status of its Ready condition: True, False or Unknown.
        reason: Reason of that condition.
        message: Message of that condition.
        revision: Revision that was applied last; empty if none was.
        inventory: Identities of the objects that it has applied and owns.
    """

    ready: str
    reason: str
    message: str
    revision: str
    inventory: tuple[str, ...]

    @classmethod
    def of(cls, kustomization: Mapping[str, Any]) -> "Sync":
        """Read it from a Kustomization."""
        status = kustomization.get("status") or {}
        conditions: list[dict[str, str]] = status.get("conditions") or []
        ready = next((item for item in conditions if item["type"] == "Ready"), {})
        entries = (status.get("inventory") or {}).get("entries") or ()
        return cls(
            ready.get("status", "Unknown"),
            ready.get("reason", ""),
            ready.get("message", ""),
            status.get("lastAppliedRevision", ""),
            tuple(sorted(entry["id"] for entry in entries)),
        )


class Flux:
    """Kustomizations in one namespace, each with a source of its own.

    Args:
        access: The API server.
        namespace: Where the Kustomizations are.
        source: Serves the manifests.

    Use it as a context manager.
    """

    def __init__(self, access: Access, namespace: str, source: Source) -> None:
        self._client = access.client()
        self._namespace = namespace
        self._source = source
        self._requests = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def publish(self, name: str, files: Mapping[str, str]) -> str:
        """Make files the newest revision of a source, and return that revision.

        Args:
            name: Name of the source.
            files: Manifests by their paths.
        """
        artifact = self._source.publish(files)
        repository = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "GitRepository",
            "metadata": {"name": name, "namespace": self._namespace},
            "spec": {"interval": "1h", "url": "https://git.example.com/team/stack"},
        }
        path = f"{_SOURCES}/namespaces/{self._namespace}/gitrepositories/{name}"
        self._apply(path, repository)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": now}
        status = {"status": {"artifact": artifact, "conditions": [ready], "observedGeneration": 1}}
        self._checked(self._client.patch(f"{path}/status", json=status, headers=_MERGE), path)
        return str(artifact["revision"])

    def declare(self, name: str, **spec: Any) -> None:
        """Declare a Kustomization of the source with its name.

        Args:
            name: Its name.
            spec: Fields of its spec. Left out, it prunes, does not wait, and syncs when it is told to only.
        """
        manifest = {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": name, "namespace": self._namespace},
            "spec": {
                "interval": "1h",
                "retryInterval": "1h",
                "path": "./",
                "prune": True,
                "sourceRef": {"kind": "GitRepository", "name": name},
                "timeout": "1m",
                **spec,
            },
        }
        self._apply(self._path(name), manifest)

    def request(self, name: str) -> str:
        """Ask for a sync now, as `flux reconcile` does, and return what its answer will name."""
        self._requests += 1
        token = f"request-{self._requests}-{time.time_ns()}"
        change = {"metadata": {"annotations": {_REQUESTED: token}}}
        self._checked(self._client.patch(self._path(name), json=change, headers=_MERGE), self._path(name))
        return token

    def sync(self, name: str, seconds: float = 90.0) -> Sync:
        """Ask for a sync and wait until it is over, whatever came of it.

        Raises:
            HarnessError: It was not over in time.
        """
        token = self.request(name)

        def over(kustomization: Mapping[str, Any]) -> bool:
            handled = (kustomization.get("status") or {}).get("lastHandledReconcileAt") == token
            return handled and Sync.of(kustomization).ready != "Unknown"

        return self._wait(name, over, seconds)

    def wait_applied(self, name: str, revision: str, seconds: float = 90.0) -> Sync:
        """Wait until a revision is applied and, if the Kustomization waits for it, healthy.

        The controller writes conditions before the rest of the status, so that Ready alone can be ahead of it.

        Raises:
            HarnessError: It was not in time.
        """
        return self._wait(name, lambda found: Sync.of(found).revision == revision, seconds)

    def _wait(self, name: str, holds: Callable[[Mapping[str, Any]], bool], seconds: float) -> Sync:
        deadline = time.monotonic() + seconds
        while True:
            answer = self._client.get(self._path(name))
            found = self._checked(answer, self._path(name))
            if holds(found):
                return Sync.of(found)
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"Expected the Kustomization {name} to finish a sync within {seconds:.0f} s; its status is "
                    f"{found.get('status')}."
                )
            time.sleep(_POLL_SECONDS)

    def read(self, name: str) -> Sync:
        """What a Kustomization says now."""
        return Sync.of(self._checked(self._client.get(self._path(name)), self._path(name)))

    def remove(self, name: str, seconds: float = 60.0) -> None:
        """Delete a Kustomization, which prunes what it owns, and wait until it is gone."""
        self._client.delete(self._path(name))
        deadline = time.monotonic() + seconds
        while self._client.get(self._path(name)).status_code != 404:
            if time.monotonic() > deadline:
                raise HarnessError(f"Expected the Kustomization {name} to be gone within {seconds:.0f} s.")
            time.sleep(_POLL_SECONDS)

    def remove_all(self) -> None:
        """Delete all Kustomizations of the namespace, and what they own."""
        found = self._checked(self._client.get(self._path("")), self._namespace)
        for item in found["items"]:
            self.remove(item["metadata"]["name"])

    def install_crds(self, folder: Path) -> None:
        """Apply the CRDs that kustomize-controller watches, and wait until they are served.

        Args:
            folder: Folder of its own CRDs, as its module ships them.
        """
        manifests = [*crds(), *(yaml.safe_load(file.read_text()) for file in sorted(folder.glob("*.yaml")))]
        for manifest in manifests:
            self._apply(f"{_CRDS}/{manifest['metadata']['name']}", manifest)
        deadline = time.monotonic() + 60
        for manifest in manifests:
            while not self._established(manifest["metadata"]["name"]):
                if time.monotonic() > deadline:
                    raise HarnessError(
                        f"Expected the CRD {manifest['metadata']['name']} to be established within 60 s."
                    )
                time.sleep(_POLL_SECONDS)

    def _established(self, name: str) -> bool:
        found = self._checked(self._client.get(f"{_CRDS}/{name}"), name)
        conditions = (found.get("status") or {}).get("conditions") or ()
        return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)

    def _path(self, name: str) -> str:
        return f"{_KUSTOMIZATIONS}/namespaces/{self._namespace}/kustomizations/{name}".rstrip("/")

    def _apply(self, path: str, manifest: Mapping[str, Any]) -> None:
        body = yaml.safe_dump(manifest)
        self._checked(self._client.patch(path, content=body, params=_OWNER, headers=_APPLY), path)

    def _checked(self, answer: httpx.Response, what: str) -> dict[str, Any]:
        if not answer.is_success:
            raise HarnessError(f"The API server refused {what} with {answer.status_code}: {answer.text[:300]}")
        found: dict[str, Any] = answer.json()
        return found
