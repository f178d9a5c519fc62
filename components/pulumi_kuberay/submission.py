"""How a RayJob is handed to Ray."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi
import yaml

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.outputs import has_outputs
from pulumi_kuberay.pod_args import PodTemplate
from pulumi_kuberay.pod_template import SUBMITTER_RESOURCES, overlaid, pod_template
from pulumi_kuberay.rendering import rendered

CONTAINER = "ray-job-submitter"
"""Name of the submitter's container."""


class SubmissionMode(StrEnum):
    """How KubeRay hands the job to Ray."""

    K8S_JOB = "K8sJobMode"
    """A Kubernetes Job runs ``ray job submit`` in a pod of its own."""

    HTTP = "HTTPMode"
    """The operator sends one HTTP request. A job that is lost with the head pod is submitted again without a word, even
    without retries (kuberay#4824), so it must bear to be run twice."""

    SIDECAR = "SidecarMode"
    """A container in the head pod runs ``ray job submit``."""

    INTERACTIVE = "InteractiveMode"
    """The user submits the job and tells KubeRay its id: ``kubectl patch`` sets ``spec.jobId``, which is left
    alone here."""


@dataclass(kw_only=True)
class Submitter:
    """The Kubernetes Job that submits, in K8sJobMode."""

    backoff_limit: pulumi.Input[int] | None = None
    """How often a submitter pod that failed is replaced by another, 0 or more. Default: 2."""

    pod: PodTemplate | None = None
    """The pod. Default: the image of the head, requests of 500m and 200Mi, limits of 1 CPU and 1Gi, the secrets and
    the security of the RayCluster's pods."""


def submitter_fields(
    submitter: Submitter,
    common: PodTemplate | None,
    image: pulumi.Input[str] | None,
    *,
    always: bool = False,
) -> dict[str, Any]:
    """Return the fields of a RayJob's spec that describe the submitter.

    Args:
        submitter: The submitter.
        common: What holds for all pods of the RayCluster. The submitter takes of it what lets it start: the secrets
            of the registry and the security.
        image: Image of the head, where it is known.
        always: Describe the pod even if nothing is said about it, so that it is as secure as the others.

    Raises:
        ArgumentError: The pod has no image, because the RayCluster is an existing one or not typed.
    """
    limit = {} if submitter.backoff_limit is None else {"submitterConfig": {"backoffLimit": submitter.backoff_limit}}
    if submitter.pod is None and not always:
        return limit
    shared = common or PodTemplate()
    start = PodTemplate(image_pull_secrets=shared.image_pull_secrets, security=shared.security)
    pod = overlaid(start, submitter.pod)
    if pod.image is None and image is None:
        raise ArgumentError(
            "The submitter has a pod but no image, and the image of the RayCluster is not known here; set the image of "
            "the submitter's pod to that of the RayCluster."
        )
    template = pod_template(pod, CONTAINER, image=image, resources=SUBMITTER_RESOURCES)
    return {**limit, "submitterPodTemplate": deep_merge({"spec": {"restartPolicy": "Never"}}, template)}


def runtime_env_text(environment: Mapping[str, Any] | None, text: pulumi.Input[str] | None) -> pulumi.Input[str] | None:
    """Return ``runtimeEnvYAML``.

    Args:
        environment: Ray's runtime environment as a mapping.
        text: The same as YAML text.

    Raises:
        ArgumentError: Both are given.
    """
    if environment is None:
        return text
    if text is not None:
        raise ArgumentError(
            "The runtime environment of a RayJob is given twice, as runtime_env and as runtime_env_yaml; keep one."
        )
    return _written(environment, lambda known: yaml.safe_dump(known, sort_keys=True))


def resources_text(resources: Mapping[str, pulumi.Input[float]] | None) -> pulumi.Input[str] | None:
    """Return ``entrypointResources``: Ray's resources by name, as JSON."""
    return None if resources is None else _written(resources, lambda known: json.dumps(known, sort_keys=True))


def _written(values: Mapping[str, Any], write: Any) -> pulumi.Input[str]:
    if has_outputs(values):
        return pulumi.Output.from_input(values).apply(lambda known: str(write(rendered(known))))
    return str(write(rendered(values)))
