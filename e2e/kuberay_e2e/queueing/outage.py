"""Taking Kueue's webhooks away, with Kueue or without it, and giving them back."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from kuberay_e2e.api import KINDS, retried
from kuberay_e2e.clusters.stages import APP_NAME, KUEUE
from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.queueing.requests import MERGE, answered
from kuberay_e2e.session.kueues import KUEUE_DEPLOYMENT, KUEUE_NAMESPACE

_REGISTRATIONS = "/apis/admissionregistration.k8s.io/v1"
_CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_NOBODY = "-nobody"
"""Appended to the name of the webhooks' Service, so that the API server finds none."""

_SECONDS = 120.0
_JSON = {"Content-Type": "application/json-patch+json"}


@contextmanager
def unreachable_webhooks(client: httpx.Client, probe: Mapping[str, Any]) -> Iterator[None]:
    """During the block the API server finds no Service behind any of Kueue's webhooks; Kueue itself runs on.

    Args:
        client: Client of the API server.
        probe: A RayJob that Kueue takes; it is never stored.

    Raises:
        HarnessError: The webhooks did not go, or did not come back.
    """
    _rename(client, lambda name: name + _NOBODY)
    try:
        _await(client, probe, reachable=False)
        yield
    finally:
        _rename(client, lambda name: name.removesuffix(_NOBODY))
        _await(client, probe, reachable=True)


@contextmanager
def stopped_kueue(client: httpx.Client, probe: Mapping[str, Any]) -> Iterator[None]:
    """During the block Kueue's Deployment has no pods; in the end it is ready again.

    Args:
        client: Client of the API server.
        probe: A RayJob that Kueue takes; it is never stored.

    Raises:
        HarnessError: Kueue did not go, or did not come back.
    """
    _scale(client, 0)
    try:
        _wait("Kueue's pods to go", lambda: _no_pods(client))
        _await(client, probe, reachable=False)
        yield
    finally:
        _scale(client, 1)
        _wait("Kueue to be ready", lambda: _ready(client))
        _await(client, probe, reachable=True)


def failure_policies(client: httpx.Client, resource: str) -> dict[str, str]:
    """`failurePolicy` of each of Kueue's webhooks that looks at a resource, by its name."""
    found = {}
    for _, webhooks in _configurations(client):
        for webhook in webhooks:
            if any(resource in rule["resources"] for rule in webhook.get("rules") or ()):
                found[webhook["name"]] = webhook["failurePolicy"]
    return found


def _configurations(client: httpx.Client) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for plural in _CONFIGURATIONS:
        answer = retried(lambda plural=plural: client.get(f"{_REGISTRATIONS}/{plural}"))  # type: ignore[misc]
        for item in answered(answer)["items"]:
            webhooks = item.get("webhooks") or []
            if any(
                (hook["clientConfig"].get("service") or {}).get("namespace") == KUEUE_NAMESPACE for hook in webhooks
            ):
                yield f"{_REGISTRATIONS}/{plural}/{item['metadata']['name']}", webhooks


def _rename(client: httpx.Client, rename: Callable[[str], str]) -> None:
    for path, webhooks in _configurations(client):
        patch = [
            {
                "op": "replace",
                "path": f"/webhooks/{number}/clientConfig/service/name",
                "value": rename(hook["clientConfig"]["service"]["name"]),
            }
            for number, hook in enumerate(webhooks)
        ]
        answered(retried(lambda path=path, patch=patch: client.patch(path, json=patch, headers=_JSON)))  # type: ignore[misc]


def _await(client: httpx.Client, probe: Mapping[str, Any], *, reachable: bool) -> None:
    collection = KINDS["RayJob"].format(namespace=probe["metadata"]["namespace"])

    def look() -> None:
        answer = retried(lambda: client.post(collection, json=probe, params={"dryRun": "All"}))
        if answer.is_success is not reachable:
            raise NotYetError(answer.text[:300] if reachable else "a RayJob was taken")

    _wait(f"Kueue's webhooks to be {'reachable' if reachable else 'unreachable'}", look)


def _scale(client: httpx.Client, replicas: int) -> None:
    path = f"{KINDS['Deployment'].format(namespace=KUEUE_NAMESPACE)}/{KUEUE_DEPLOYMENT}/scale"
    answered(retried(lambda: client.patch(path, json={"spec": {"replicas": replicas}}, headers=MERGE)))


def _no_pods(client: httpx.Client) -> None:
    path = KINDS["Pod"].format(namespace=KUEUE_NAMESPACE)
    pods = answered(retried(lambda: client.get(path, params={"labelSelector": f"{APP_NAME}={KUEUE}"})))["items"]
    if pods:
        raise NotYetError(", ".join(pod["metadata"]["name"] for pod in pods))


def _ready(client: httpx.Client) -> None:
    path = f"{KINDS['Deployment'].format(namespace=KUEUE_NAMESPACE)}/{KUEUE_DEPLOYMENT}"
    status = answered(retried(lambda: client.get(path))).get("status") or {}
    if not status.get("readyReplicas"):
        raise NotYetError(str(status))


def _wait(expected: str, look: Callable[[], None]) -> None:
    try:
        wait_for(expected, look, seconds=_SECONDS)
    except VerificationError as error:
        raise HarnessError(str(error)) from None
