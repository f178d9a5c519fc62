"""An independent witness: watches what the cluster stores and writes it into the trace.

The gateway sees what the operator asks for; the observer sees what came of it, whoever wrote it. It misses no version:
it lists before it returns, watches from there, and after a broken connection goes on where it was.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import aiohttp

from kuberay_e2e.access import Access
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.trace import Trace

WATCHED = {
    "RayJob": ("/apis/ray.io/v1", "rayjobs"),
    "RayCluster": ("/apis/ray.io/v1", "rayclusters"),
    "Job": ("/apis/batch/v1", "jobs"),
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
}
"""Where the kinds are whose every version is recorded."""

EVENTS = {"Event": ("/api/v1", "events")}
"""Where the Events are that controllers record about objects; they become `event` events of the trace."""

_WITH_STATUS = {"RayJob", "RayCluster", "Job"}
_GONE = 410
_PAUSE_SECONDS = 0.2
_logger = logging.getLogger(__name__)


class Observer:
    """Records each version of the objects that matter as `object` events.

    Args:
        access: The API server.
        trace: Receives the events.
        namespace: The namespace that is watched; default: all.
        kinds: What is watched, such as `{**WATCHED, **EVENTS}`.

    Use it as an asynchronous context manager, once the CRDs are there.
    """

    def __init__(
        self,
        access: Access,
        trace: Trace,
        namespace: str | None = None,
        kinds: Mapping[str, tuple[str, str]] = WATCHED,
    ) -> None:
        self._access = access
        self._trace = trace
        self._scope = f"/namespaces/{quote(namespace)}" if namespace else ""
        self._versions: dict[str, str] = {}
        self._kinds = kinds
        self._known: dict[str, dict[str, Mapping[str, Any]]] = {kind: {} for kind in kinds}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Observer":
        context = self._access.ssl_context()
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context if context is not None else True),
            headers={"Authorization": f"Bearer {self._access.token}"} if self._access.token else {},
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=1 << 20,
        )
        try:
            await asyncio.gather(*(self._list(kind) for kind in self._kinds))
        except (aiohttp.ClientError, HarnessError):
            await self._client.close()
            raise
        self._tasks = [asyncio.create_task(self._watch(kind)) for kind in self._kinds]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()

    def _url(self, kind: str) -> str:
        root, plural = self._kinds[kind]
        return f"{self._access.server}{root}{self._scope}/{plural}"

    async def _list(self, kind: str) -> None:
        """Record what is there and what has gone since it was known, and watch from this version on."""
        async with self._client.get(self._url(kind)) as answer:
            if answer.status != 200:
                raise HarnessError(f"Expected a list of {kind}s to watch from; the API server said {answer.status}.")
            found = json.loads(await answer.read())
        there = {item["metadata"]["uid"] for item in found["items"]}
        for uid, item in tuple(self._known[kind].items()):
            if uid not in there:
                self._record("DELETED", kind, item)
        for item in found["items"]:
            self._record("ADDED", kind, item)
        self._versions[kind] = found["metadata"]["resourceVersion"]

    async def _watch(self, kind: str) -> None:
        while True:
            try:
                await self._follow(kind)
            except (aiohttp.ClientError, HarnessError, ValueError) as error:
                _logger.debug("The watch of %s ended: %s", kind, error)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _follow(self, kind: str) -> None:
        """Record versions as they come, until the API server ends the watch."""
        query = {"watch": "true", "resourceVersion": self._versions[kind], "allowWatchBookmarks": "true"}
        async with self._client.get(self._url(kind), params=query) as answer:
            if answer.status == _GONE:
                await self._list(kind)
                return
            pending = b""
            async for chunk in answer.content.iter_any():
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        if event["object"].get("code") == _GONE:
                            await self._list(kind)
                        return
                    if event["type"] != "BOOKMARK":
                        self._record(event["type"], kind, event["object"])
                    self._versions[kind] = event["object"]["metadata"]["resourceVersion"]

    def _record(self, event: str, kind: str, item: Mapping[str, Any]) -> None:
        meta, known = item["metadata"], self._known[kind]
        if event == "DELETED":
            known.pop(meta["uid"], None)
        elif meta["uid"] in known and known[meta["uid"]]["metadata"]["resourceVersion"] == meta["resourceVersion"]:
            return
        else:
            known[meta["uid"]] = item
        if kind in EVENTS:
            self._trace.add("event", **occurrence(item))
        else:
            self._trace.add("object", **snapshot(event, kind, item))


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


def occurrence(item: Mapping[str, Any]) -> dict[str, Any]:
    """What the trace keeps of one version of a Kubernetes Event."""
    about = item.get("involvedObject") or {}
    return {
        "uid": item["metadata"]["uid"],
        "name": item["metadata"]["name"],
        "type": item.get("type", ""),
        "reason": item.get("reason", ""),
        "message": item.get("message", ""),
        "count": int(item.get("count") or (item.get("series") or {}).get("count") or 1),
        "about_kind": about.get("kind", ""),
        "about_name": about.get("name", ""),
        "about_uid": about.get("uid", ""),
        "component": (item.get("source") or {}).get("component") or item.get("reportingComponent", ""),
    }
