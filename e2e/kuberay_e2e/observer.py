"""An independent witness: watches what the cluster stores and writes it into the trace.

The gateway sees what the operator asks for; the observer sees what came of it, whoever wrote it.
"""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import kr8s
import kr8s.asyncio

from kuberay_e2e.trace import Trace

WATCHED = {
    "rayjobs.ray.io": "RayJob",
    "rayclusters.ray.io": "RayCluster",
    "jobs.batch": "Job",
    "pods": "Pod",
    "services": "Service",
}
"""The kinds whose every version is recorded."""

_WITH_STATUS = {"RayJob", "RayCluster", "Job"}
_logger = logging.getLogger(__name__)


class Observer:
    """Records each version of the objects that matter as `object` events.

    Args:
        kubeconfig: Administrator's access.
        trace: Receives the events.
        namespace: The namespace that is watched; default: all.

    Use it as an asynchronous context manager, once the CRDs are there.
    """

    def __init__(self, kubeconfig: Path, trace: Trace, namespace: str | None = None) -> None:
        self._kubeconfig = kubeconfig
        self._trace = trace
        self._namespace = namespace or kr8s.ALL
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Observer":
        api = await kr8s.asyncio.api(kubeconfig=str(self._kubeconfig))
        self._tasks = [asyncio.create_task(self._watch(api, *watched)) for watched in WATCHED.items()]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self, api: "kr8s.asyncio.Api", resource: str, kind: str) -> None:
        seen: dict[str, str] = {}
        while True:
            try:
                async for event, found in api.async_watch(resource, namespace=self._namespace):
                    item = found.raw.to_dict()
                    meta = item["metadata"]
                    if event != "DELETED" and seen.get(meta["uid"]) == meta["resourceVersion"]:
                        continue
                    seen[meta["uid"]] = meta["resourceVersion"]
                    self._trace.add("object", **snapshot(event, kind, item))
            except (httpx.HTTPError, kr8s.ServerError, kr8s.APITimeoutError, ValueError) as error:
                _logger.debug("The watch of %s ended: %s", resource, error)
            await asyncio.sleep(0.2)


def snapshot(event: str, kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """What the trace keeps of one version of an object."""
    meta = item["metadata"]
    kept: dict[str, Any] = {
        "event": event,
        "object_kind": kind,
        "namespace": meta.get("namespace", ""),
        "name": meta["name"],
        "uid": meta["uid"],
        "resource_version": meta.get("resourceVersion", ""),
        "owners": [owner["uid"] for owner in meta.get("ownerReferences") or ()],
        "owner_kinds": [owner["kind"] for owner in meta.get("ownerReferences") or ()],
        "labels": dict(meta.get("labels") or {}),
        "finalizers": list(meta.get("finalizers") or ()),
        "deletion": meta.get("deletionTimestamp", ""),
    }
    if kind in _WITH_STATUS:
        kept["status"] = dict(item.get("status") or {})
    elif kind == "Pod":
        kept["phase"] = (item.get("status") or {}).get("phase", "")
    return kept
