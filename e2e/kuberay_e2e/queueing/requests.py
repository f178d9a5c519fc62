"""What is asked of the API server beside RayJobs: batch Jobs, queues on hold, and answers that have to be good."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from kuberay_e2e.api import KINDS, retried
from kuberay_e2e.errors import HarnessError

_LOCAL_QUEUES = "/apis/kueue.x-k8s.io/v1beta2/namespaces/{namespace}/localqueues"
MERGE = {"Content-Type": "application/merge-patch+json"}
"""Header of a JSON merge patch."""

UNREACHABLE = "failed calling webhook"
"""What the API server says of a webhook that it cannot reach, or that answers too late."""

PATIENCE_SECONDS = 60.0
"""How long a request is repeated while a webhook cannot be reached: on a busy node a probe may find Kueue unready."""

_PAUSE_SECONDS = 0.5


def sent(request: Callable[[], httpx.Response], *, patience: float = PATIENCE_SECONDS) -> httpx.Response:
    """Send a request, again while the connection breaks or a webhook cannot be reached, as users do.

    Args:
        request: Sends it once.
        patience: How long it is repeated for a webhook's sake, in seconds.

    Raises:
        HarnessError: The API server did not answer.
    """
    deadline = time.monotonic() + patience
    while True:
        answer = retried(request)
        if answer.is_success or UNREACHABLE not in answer.text or time.monotonic() > deadline:
            return answer
        time.sleep(_PAUSE_SECONDS)


def create(client: httpx.Client, kind: str, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Create an object and return it as it is stored.

    Raises:
        HarnessError: The API server refused it.
    """
    path = KINDS[kind].format(namespace=manifest["metadata"]["namespace"])
    return answered(sent(lambda: client.post(path, json=manifest)))


def delete(client: httpx.Client, kind: str, namespace: str, name: str) -> None:
    """Delete an object, what it owns after it.

    Raises:
        HarnessError: The API server refused it.
    """
    path = f"{KINDS[kind].format(namespace=namespace)}/{name}"
    answered(sent(lambda: client.delete(path, params={"propagationPolicy": "Background"})))


def set_stop_policy(client: httpx.Client, namespace: str, queue: str, policy: str) -> None:
    """Put a LocalQueue on hold or let it go on.

    Args:
        client: Client of the API server.
        namespace: Namespace of the queue.
        queue: Its name.
        policy: `None`, `Hold` or `HoldAndDrain`.

    Raises:
        HarnessError: The API server refused it.
    """
    path = f"{_LOCAL_QUEUES.format(namespace=namespace)}/{queue}"
    answered(sent(lambda: client.patch(path, json={"spec": {"stopPolicy": policy}}, headers=MERGE)))


def answered(answer: httpx.Response) -> Mapping[str, Any]:
    """What a request was answered with.

    Raises:
        HarnessError: It was refused.
    """
    if not answer.is_success:
        raise HarnessError(
            f"Expected {answer.request.method} {answer.request.url.path} to be answered, got {answer.status_code}: "
            f"{answer.text[:300]}"
        )
    found: Mapping[str, Any] = answer.json()
    return found
