"""Watches pods and runs those of Ray: a head behind each head pod, and each submitter, in a pod or beside a head."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import kr8s
from kr8s.asyncio.objects import new_class

from kuberay_e2e.clusters.stages import RAY_NODE_TYPE
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway.rayroute import RAY_CLUSTER_LABEL
from kuberay_e2e.pods import contents, statuses
from kuberay_e2e.pods.api import PodApi
from kuberay_e2e.pods.logs import RuntimeLog
from kuberay_e2e.ray import Head, RayBackend, RayClusterKey, Submitter
from kuberay_e2e.trace import Trace

_SUBMITTER_OWNER = "RayJob"
_DASHBOARD = "RAY_DASHBOARD_ADDRESS"
_SIDECAR = "ray-job-submitter"
"""Name of the container that submits in SidecarMode (SubmitterContainerName of KubeRay)."""

Logs = new_class(kind="Logs", version="kwok.x-k8s.io/v1alpha1", namespaced=True, plural="logs")


class PodRunner:
    """The part of a kubelet that runs Ray.

    Args:
        kubeconfig: Administrator's access to the cluster.
        backend: Runs heads and submitters.
        folder: Receives logs and mounted files.
        trace: Receives what was run and how it ended.

    Use it as an asynchronous context manager; leaving it ends everything that it runs.
    """

    def __init__(self, kubeconfig: Path, backend: RayBackend, folder: Path, trace: Trace) -> None:
        self._kubeconfig = kubeconfig
        self._backend = backend
        self._folder = folder
        self._trace = trace
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._heads: defaultdict[RayClusterKey, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> "PodRunner":
        self._pods = await PodApi.connect(self._kubeconfig)
        self._watch = asyncio.create_task(self._watch_pods())
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [self._watch, *self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def log(self, pod_uid: str) -> Path:
        """The output of a submitter pod."""
        return self._folder / f"{pod_uid}.log"

    async def _watch_pods(self) -> None:
        async for event, pod in self._pods.watch():
            self._see(event, pod)

    def _see(self, event: str, pod: dict[str, Any]) -> None:
        uid = pod["metadata"]["uid"]
        if event == "DELETED" or pod["metadata"].get("deletionTimestamp"):
            if (task := self._tasks.pop(uid, None)) is not None:
                task.cancel()
            return
        status = pod.get("status") or {}
        if uid in self._tasks or not status.get("podIP"):
            return
        labels = pod["metadata"].get("labels") or {}
        if labels.get(RAY_NODE_TYPE) == "head" and status.get("phase") == "Pending":
            self._tasks[uid] = asyncio.create_task(self._head(pod))
        elif status.get("phase") == "Running" and _job_of(pod):
            self._tasks[uid] = asyncio.create_task(self._submitter(pod))

    async def _head(self, pod: dict[str, Any]) -> None:
        meta = pod["metadata"]
        key = RayClusterKey(meta["namespace"], meta["labels"][RAY_CLUSTER_LABEL])
        container = pod["spec"]["containers"][0]
        async with self._heads[key]:
            try:
                head = Head(
                    key=key,
                    uid=meta["uid"],
                    env=await contents.environment(pod, container, self._pods.fetch),
                    files=await contents.files(pod, container, self._pods.fetch, self._folder / meta["uid"]),
                )
                await self._backend.start_head(head)
                self._note("head-started", pod)
                ready = statuses.ready(pod)
                await self._pods.set_status(pod, ready)
                await self._sidecar(pod, key, ready)
                await asyncio.Event().wait()
            except HarnessError as error:
                self._note("head-failed", pod, message=str(error))
                await self._pods.set_status(pod, statuses.failed_to_start(pod, str(error)))
                await asyncio.Event().wait()
            finally:
                await self._backend.stop_head(key)
                self._note("head-stopped", pod)

    async def _submitter(self, pod: dict[str, Any]) -> None:
        meta = pod["metadata"]
        job = await self._pods.fetch("Job", meta["namespace"], _job_of(pod))
        if job is None or _owner(job, _SUBMITTER_OWNER) is None:
            return
        container = pod["spec"]["containers"][0]
        env = await contents.environment(pod, container, self._pods.fetch)
        key = await self._cluster_behind(meta["namespace"], env.get(_DASHBOARD, ""))
        code = await self._run_submitter(pod, container, key, job=job["metadata"]["name"])
        await self._pods.set_status(pod, statuses.ended(pod, code))

    async def _sidecar(self, pod: dict[str, Any], key: RayClusterKey, ready: Mapping[str, Any]) -> None:
        container = next((item for item in pod["spec"]["containers"] if item["name"] == _SIDECAR), None)
        if container is not None:
            code = await self._run_submitter(pod, container, key)
            await self._pods.set_status(pod, statuses.without(ready, _SIDECAR, code))

    async def _run_submitter(
        self, pod: dict[str, Any], container: Mapping[str, Any], key: RayClusterKey, **more: Any
    ) -> int:
        meta = pod["metadata"]
        self._note("submitter-started", pod, **more)
        async with self._logged(pod) as log:
            code = await self._backend.run_submitter(
                Submitter(
                    namespace=meta["namespace"],
                    pod=meta["name"],
                    uid=meta["uid"],
                    cluster=key,
                    command=(*container.get("command", ()), *container.get("args", ())),
                    env=await contents.environment(pod, container, self._pods.fetch),
                    log=log,
                    files=await contents.files(pod, container, self._pods.fetch, self._folder / meta["uid"]),
                )
            )
        self._note("submitter-ended", pod, exit_code=code)
        return code

    def _note(self, event: str, pod: Mapping[str, Any], **more: Any) -> None:
        meta = pod["metadata"]
        self._trace.add("ray", event=event, namespace=meta["namespace"], pod=meta["name"], **more)

    async def _cluster_behind(self, namespace: str, address: str) -> RayClusterKey:
        service = address.split(".")[0].split(":")[0]
        found = await self._pods.fetch("Service", namespace, service) if service else None
        selector = ((found or {}).get("spec") or {}).get("selector") or {}
        return RayClusterKey(namespace, selector.get(RAY_CLUSTER_LABEL, ""))

    @contextlib.asynccontextmanager
    async def _logged(self, pod: Mapping[str, Any]) -> AsyncIterator[Path]:
        meta = pod["metadata"]
        output = self.log(meta["uid"])
        runtime_log = RuntimeLog(output, output.with_suffix(".cri"))
        spec = {"logs": [{"logsFile": str(output.with_suffix(".cri")), "follow": True}]}
        owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        names = {"name": meta["name"], "namespace": meta["namespace"], "ownerReferences": [owner]}
        with contextlib.suppress(kr8s.ServerError):
            resource = {"apiVersion": Logs.version, "kind": Logs.kind, "metadata": names, "spec": spec}
            await (await Logs(resource, api=self._pods.api)).create()
        follower = asyncio.create_task(runtime_log.follow())
        try:
            yield output
        finally:
            follower.cancel()
            runtime_log.copy(last=True)


def _job_of(pod: Mapping[str, Any]) -> str:
    owner = _owner(pod, "Job")
    return owner["name"] if owner else ""


def _owner(resource: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    owners = resource["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner["kind"] == kind), None)
