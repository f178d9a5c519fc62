"""Looks at the user's cluster before anything is done there."""

import re
from typing import Any

import httpx

from kuberay_e2e.errors import HarnessError, InputError

OLDEST = (1, 31)
"""Since when a Job may have a pod failure policy, and a backoff limit for each index, without a feature gate."""


def look(client: httpx.Client, namespace: str) -> str:
    """Refuse a cluster that cannot run the Job, or on which a namespace would be taken that is there.

    Args:
        client: For the API server, with the user's rights.
        namespace: The namespace that would be made.

    Returns:
        The version of Kubernetes.

    Raises:
        InputError: The namespace is there, or Kubernetes is too old.
        HarnessError: The cluster does not answer, or does not let the user look.
    """
    try:
        version = str(_json(client.get("/version"), "/version").get("gitVersion", ""))
        answer = client.get(f"/api/v1/namespaces/{namespace}")
    except httpx.HTTPError as error:
        raise HarnessError(
            f"The cluster at {client.base_url} does not answer ({error}). Is it running, and is it the context that "
            "you meant?"
        ) from error
    found = re.match(r"v(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise InputError(f"The cluster has Kubernetes {version}; the Job needs {OLDEST[0]}.{OLDEST[1]} or newer.")
    if answer.status_code != 404:
        _json(answer, answer.request.url.path)
        raise InputError(
            f"The namespace {namespace} exists on the cluster already. Nothing is done in a namespace that was there "
            "before: name one by --namespace that is not there, or none."
        )
    return version


def _json(answer: httpx.Response, path: str) -> Any:
    if not answer.is_success:
        raise HarnessError(
            f"Expected to read {path} of the cluster before anything is done to it, got {answer.status_code}: "
            f"{answer.text[:300]}"
        )
    return answer.json()
