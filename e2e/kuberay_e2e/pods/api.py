"""What the part of a kubelet that the harness plays asks of the API server."""

import contextlib
import logging
from asyncio import sleep
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import kr8s
import kr8s.asyncio

_logger = logging.getLogger(__name__)

_PATHS = {
    "ConfigMap": ("v1", "configmaps"),
    "Secret": ("v1", "secrets"),
    "Service": ("v1", "services"),
    "Job": ("batch/v1", "jobs"),
}
_TOKEN_SECONDS = 24 * 3600


class PodApi:
    """Pods and what they refer to.

    Args:
        api: The API server.
    """

    def __init__(self, api: "kr8s.asyncio.Api") -> None:
        self.api = api

    @classmethod
    async def connect(cls, kubeconfig: Path) -> Self:
        """Use the administrator's access in a kubeconfig."""
        return cls(await kr8s.asyncio.api(kubeconfig=str(kubeconfig)))

    async def watch(self, selector: Mapping[str, str] | None = None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Follow the pods of all namespaces, for ever: kind of event and pod.

        Args:
            selector: Labels that the pods must have; default: all pods.
        """
        while True:
            try:
                async for event, pod in self.api.async_watch(
                    "pods", namespace=kr8s.ALL, label_selector=dict(selector or {})
                ):
                    yield event, pod.raw.to_dict()
            except (httpx.HTTPError, kr8s.ServerError, kr8s.APITimeoutError) as error:
                _logger.debug("The watch of pods ended: %s", error)
            await sleep(0.1)

    async def fetch(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """An object that a pod refers to, or None where there is none."""
        version, plural = _PATHS[kind]
        try:
            async with self.api.call_api("GET", version=version, namespace=namespace, url=f"{plural}/{name}") as answer:
                found: Mapping[str, Any] = answer.json()
                return found
        except kr8s.ServerError as error:
            if error.response is not None and error.response.status_code == 404:
                return None
            raise

    async def token(self, namespace: str, service_account: str) -> str:
        """A token of a ServiceAccount, good for a day."""
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _TOKEN_SECONDS},
        }
        url = f"serviceaccounts/{service_account}/token"
        async with self.api.call_api("POST", version="v1", namespace=namespace, url=url, json=body) as answer:
            token: str = answer.json()["status"]["token"]
            return token

    async def set_status(self, pod: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        """Write the status of a pod; one that is gone, or a namesake, is left alone."""
        meta = pod["metadata"]
        with contextlib.suppress(kr8s.NotFoundError, kr8s.ServerError):
            target = await kr8s.asyncio.objects.Pod.get(meta["name"], namespace=meta["namespace"], api=self.api)
            if target.metadata.uid == meta["uid"]:
                await target.patch({"status": dict(status)}, subresource="status")
