"""Reading objects of the cluster, for the steps of a life cycle."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.errors import HarnessError

Object = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "RayJob": "/apis/ray.io/v1/namespaces/{namespace}/rayjobs",
    "RayCluster": "/apis/ray.io/v1/namespaces/{namespace}/rayclusters",
    "Job": "/apis/batch/v1/namespaces/{namespace}/jobs",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "Workload": "/apis/kueue.x-k8s.io/v1beta2/namespaces/{namespace}/workloads",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
}
"""Collections of the kinds that a life cycle looks at."""


class ClusterReader:
    """Reads objects by kind and name.

    Args:
        access: The API server.

    Use it as a context manager.
    """

    def __init__(self, access: Access) -> None:
        self._client = access.client()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """An object, or None where there is none."""
        answer = self._answer(f"{KINDS[kind].format(namespace=namespace)}/{name}")
        return None if answer.status_code == 404 else self._json(answer)

    def list(self, kind: str, namespace: str, *, selector: str = "", owner: str = "") -> list[Object]:
        """Objects of a namespace.

        Args:
            kind: One of `KINDS`.
            namespace: Their namespace.
            selector: A label selector.
            owner: UID of an owner that they name; default: any.
        """
        query = f"?labelSelector={selector}" if selector else ""
        answer = self._answer(KINDS[kind].format(namespace=namespace) + query)
        if answer.status_code == 404:
            return []
        found: list[Object] = self._json(answer)["items"]
        return [item for item in found if not owner or owner in owners(item)]

    def log(self, namespace: str, pod: str, container: str | None = None) -> str:
        """The log of a pod, as `kubectl logs` shows it.

        Raises:
            HarnessError: The API server has no log of that pod.
        """
        query = f"?container={container}" if container else ""
        answer = self._answer(f"{KINDS['Pod'].format(namespace=namespace)}/{pod}/log{query}")
        if not answer.is_success:
            raise HarnessError(
                f"Expected the log of pod {namespace}/{pod}, got {answer.status_code}: {answer.text[:300]}"
            )
        return answer.text

    def _answer(self, path: str) -> httpx.Response:
        return retried(lambda: self._client.get(path))

    def _json(self, answer: httpx.Response) -> Any:
        if not answer.is_success:
            raise HarnessError(
                f"Expected {answer.request.url.path} to be readable, got {answer.status_code}: {answer.text[:300]}"
            )
        return answer.json()


def owners(item: Object) -> list[str]:
    """UIDs of the owners of an object."""
    return [owner["uid"] for owner in item["metadata"].get("ownerReferences") or ()]


def retried(request: Callable[[], httpx.Response], *, attempts: int = 3) -> httpx.Response:
    """Send a request again when the connection broke.

    Raises:
        HarnessError: It broke each time.
    """
    for attempt in range(attempts):
        try:
            return request()
        except httpx.TransportError as error:
            if attempt == attempts - 1:
                raise HarnessError(
                    f"The API server did not answer ({error!r}). Is the cluster still running?"
                ) from error
    raise AssertionError
