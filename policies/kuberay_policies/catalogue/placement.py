"""Policies on the nodes that Pods may run on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.sentences import listed
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.quantities import is_device
from kuberay_policies.stack import Context
from kuberay_policies.targets import Pod, Role, Scope


class Devices(Parameters):
    """Parameters of P410."""

    taint_keys: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            description="Taint keys that GPU nodes have, one of which must be tolerated. Default: the name of the "
            "resource, such as nvidia.com/gpu.",
        ),
    ] = ()
    node_selector: Annotated[
        bool, Field(description="Also require a nodeSelector or a node affinity. Default false.")
    ] = False


class HeadNodes(Parameters):
    """Parameters of P411."""

    taint_keys: Annotated[
        tuple[str, ...],
        Field(strict=False, description="Taint keys of GPU nodes. Default those of NVIDIA, AMD and Google TPUs."),
    ] = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu")
    label_keys: Annotated[
        tuple[str, ...],
        Field(strict=False, description="Labels that only GPU nodes have. Default those of NVIDIA, GKE and Karpenter."),
    ] = (
        "nvidia.com/gpu.present",
        "nvidia.com/gpu.product",
        "cloud.google.com/gke-accelerator",
        "cloud.google.com/gke-tpu-accelerator",
        "karpenter.k8s.aws/instance-gpu-name",
    )


def devices(pod: Pod) -> list[str]:
    """Return the names of devices that any container of a Pod requests."""
    return sorted({name for container in pod.containers for name in container.amounts("requests") if is_device(name)})


def tolerates(pod: Pod, key: str) -> bool:
    """Tell whether a Pod tolerates taints with a key."""
    for toleration in items(pod.spec.get("tolerations")):
        fields = mapping(toleration)
        if text(fields.get("key")) == key or (not fields.get("key") and fields.get("operator") == "Exists"):
            return True
    return False


@policy(
    "P410",
    "devices-placed",
    "A Pod with GPUs may run on the nodes that have them",
    family=Family.SCHEDULING,
    scope=Scope.POD,
    severity=Severity.WARNING,
    parameters=Devices,
    why="GPU nodes are usually tainted, so that nothing else takes them. A Pod without the toleration stays Pending, "
    "and the RayJob Initializing. Where admission adds tolerations, turn the policy off.",
    sources=("KubeRay documentation: Using GPUs",),
)
def devices_placed(pod: Pod, parameters: Devices, _: Context) -> Iterator[Problem]:
    """Look for tolerations and node selection."""
    names = devices(pod)
    if not names:
        return
    keys = parameters.taint_keys or names
    if not any(tolerates(pod, key) for key in keys):
        yield Problem(
            f"{pod.path}.spec.tolerations",
            f"{pod.title} needs {listed(names)} and tolerates none of the taints that such nodes have.",
            f"Add a toleration with key {listed(keys, 'or')} and operator Exists.",
        )
    if parameters.node_selector and not selects_node(pod):
        yield Problem(
            f"{pod.path}.spec.nodeSelector",
            f"{pod.title} needs {listed(names)} and says nothing of the kind of node.",
            "Add a nodeSelector or a required node affinity.",
        )


@policy(
    "P411",
    "head-off-device-nodes",
    "A head without GPUs does not run on GPU nodes",
    family=Family.SCHEDULING,
    scope=Scope.POD,
    severity=Severity.WARNING,
    parameters=HeadNodes,
    why="The head needs no GPU, and on a GPU node it takes CPU and memory that GPU workers need beside their GPUs.",
)
def head_off_devices(pod: Pod, parameters: HeadNodes, _: Context) -> Iterator[Problem]:
    """Look for GPUs, tolerations and selectors of GPU nodes."""
    if pod.role is not Role.HEAD:
        return
    if names := devices(pod):
        yield Problem(
            f"{pod.main.path}.resources",
            f"The head requests {listed(names)}.",
            "Give GPUs to worker groups only.",
        )
        return
    for index, toleration in enumerate(items(pod.spec.get("tolerations"))):
        if text(mapping(toleration).get("key")) in parameters.taint_keys:
            yield Problem(
                f"{pod.path}.spec.tolerations[{index}]",
                "The head tolerates the taint of GPU nodes and may take one.",
                "Remove the toleration.",
            )
    for label in mapping(pod.spec.get("nodeSelector")):
        if label in parameters.label_keys:
            yield Problem(
                f"{pod.path}.spec.nodeSelector[{label}]",
                "The head is placed on a GPU node and requests no GPU.",
                "Select other nodes.",
            )


def selects_node(pod: Pod) -> bool:
    """Tell whether a Pod selects its nodes."""
    affinity: Any = mapping(mapping(pod.spec.get("affinity")).get("nodeAffinity"))
    return bool(mapping(pod.spec.get("nodeSelector")) or affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
