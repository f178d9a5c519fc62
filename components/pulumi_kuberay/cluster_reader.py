"""Reads what Pulumi's provider does not return: logs, and whether an object is there.

The cluster is the one that Pulumi's default provider uses: the configuration ``kubernetes:kubeconfig`` and
``kubernetes:context``, else the variable ``KUBECONFIG``, else ``~/.kube/config``. A provider made in the program is not
looked at.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import yaml

from kuberay_model.outcome import Outcome
from pulumi_kuberay.submission import CONTAINER

_NOT_FOUND = 404


class ClusterUnreadableError(Exception):
    """The cluster cannot be read; the message says why, and what to do."""


async def submitter_log(rayjob: Mapping[str, Any], lines: int) -> Sequence[str]:
    """Return the last lines of the log of a RayJob's submitter.

    Args:
        rayjob: The RayJob.
        lines: How many lines at most.

    Returns:
        The lines; none in HTTPMode and InteractiveMode, which have no submitter, and where its pod is gone.

    Raises:
        ClusterUnreadableError: The cluster cannot be read, or kr8s is not installed.
    """
    selector, container = _submitter(rayjob)
    if not selector:
        return ()
    namespace = str(rayjob["metadata"].get("namespace") or "default")
    found = await _get("v1", namespace, "pods", labelSelector=selector)
    items = [] if found.is_error else found.json()["items"]
    pods = sorted(items, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    if not pods:
        return ()
    name = pods[-1]["metadata"]["name"]
    log = await _get("v1", namespace, f"pods/{name}/log", container=container, tailLines=str(lines))
    return [] if log.is_error else log.text.splitlines()


async def told(seen: Outcome, rayjob: Mapping[str, Any], lines: int) -> tuple[str, Sequence[str]]:
    """Return what to tell about a RayJob that has not succeeded: a sentence and the end of its submitter's log."""
    try:
        return seen.sentence, await submitter_log(rayjob, lines)
    except ClusterUnreadableError as error:
        return f"{seen.sentence} Its log is not shown: {error}", ()


def _submitter(rayjob: Mapping[str, Any]) -> tuple[str, str]:
    mode = rayjob["spec"].get("submissionMode") or "K8sJobMode"
    if mode == "K8sJobMode":
        template = rayjob["spec"].get("submitterPodTemplate") or {}
        containers = (template.get("spec") or {}).get("containers") or [{"name": CONTAINER}]
        return f"job-name={rayjob['metadata']['name']}", str(containers[0].get("name") or CONTAINER)
    cluster = (rayjob.get("status") or {}).get("rayClusterName")
    if mode == "SidecarMode" and cluster:
        return f"ray.io/cluster={cluster},ray.io/node-type=head", CONTAINER
    return "", ""


async def read(version: str, namespace: str, path: str) -> Mapping[str, Any] | None:
    """Return an object, None if there is none.

    Args:
        version: API version, such as ``ray.io/v1``.
        namespace: Its namespace.
        path: Plural of its kind and its name, such as ``rayjobs/counter``.

    Raises:
        ClusterUnreadableError: The cluster cannot be read, or kr8s is not installed.
    """
    answer = await _get(version, namespace, path)
    if answer.status_code == _NOT_FOUND:
        return None
    if answer.is_error:
        raise ClusterUnreadableError(
            f"the API server answered {answer.status_code} to a request for {path} in {namespace}; allow it to whoever "
            "runs Pulumi."
        )
    found: Mapping[str, Any] = answer.json()
    return found


async def _get(version: str, namespace: str, path: str, **query: str) -> Any:
    try:
        import kr8s.asyncio
    except ImportError as error:
        raise ClusterUnreadableError("the package kr8s is not installed; install it to have it here.") from error
    config = pulumi.Config("kubernetes")
    try:
        api = await kr8s.asyncio.api(kubeconfig=_kubeconfig(config.get("kubeconfig")), context=config.get("context"))
        async with api.call_api(
            "GET", version=version, namespace=namespace, url=path, params=query, raise_for_status=False
        ) as response:
            return response
    except Exception as error:  # whatever is wrong with a kubeconfig, a login program or the network
        raise ClusterUnreadableError(f"the cluster of the kubeconfig in use could not be read ({error}).") from error


def _kubeconfig(configured: str | None) -> Any:
    """Return the kubeconfig as kr8s takes it: a path, a dictionary, or None for the usual places."""
    return yaml.safe_load(configured) if configured and "\n" in configured else configured
