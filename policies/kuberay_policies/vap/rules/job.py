"""CEL of the rules on the name, the suspension, the submission and the deadlines of a RayJob."""

from __future__ import annotations

from kuberay_model.rules.metadata import NAME_LENGTH
from kuberay_model.rules.scheduling import CLUSTER_LABEL
from kuberay_policies.vap.cel import finding, literal, when
from kuberay_policies.vap.registry import Rendering, expression
from kuberay_policies.vap.variables import HEAD_PATH


@expression("J1")
def _name_length(_: Rendering) -> str:
    return when(
        f"size(variables.name) > {NAME_LENGTH}",
        finding(
            "metadata.name",
            "The name '{variables.name}' has {size(variables.name)} characters, "
            f"and a RayJob name has at most {NAME_LENGTH}.",
            f"Shorten it by {{size(variables.name) - {NAME_LENGTH}}}.",
        ),
    )


@expression("J2")
def _name_syntax(_: Rendering) -> str:
    return when(
        "size(variables.name) > 63 || !variables.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        finding(
            "metadata.name",
            "The name '{variables.name}' is no DNS-1035 label.",
            "Use lowercase letters, digits and '-' only, begin with a letter and end with a letter or digit.",
        ),
    )


@expression("J3")
def _suspend_without_shutdown(_: Rendering) -> str:
    return when(
        "variables.suspend && !variables.shutdown",
        finding(
            "spec.suspend",
            "suspend is true, but shutdownAfterJobFinishes is false.",
            "Set shutdownAfterJobFinishes: true.",
        ),
    )


@expression("J20")
def _suspend_on_selected_cluster(_: Rendering) -> str:
    return when(
        "variables.suspend && variables.selected",
        finding(
            "spec.suspend",
            "suspend is true, but a RayJob with clusterSelector cannot be suspended.",
            "Remove suspend, or give the RayJob a rayClusterSpec instead of clusterSelector.",
        ),
    )


@expression("J21")
def _no_cluster(_: Rendering) -> str:
    return when(
        "!variables.hasCluster && !variables.selected",
        finding(
            "spec",
            "Neither rayClusterSpec nor clusterSelector is set, so there is nothing to run on.",
            f"Add rayClusterSpec, or clusterSelector with the key {CLUSTER_LABEL}.",
        ),
    )


@expression("J22")
def _selector_without_name(_: Rendering) -> str:
    return when(
        f"variables.selected && variables.selector[?{literal(CLUSTER_LABEL)}].orValue('') == ''",
        finding(
            "spec.clusterSelector",
            f"clusterSelector has no {CLUSTER_LABEL} with the name of a RayCluster.",
            f"Add {CLUSTER_LABEL}: <name of the RayCluster>; other labels are ignored.",
        ),
    )


@expression("J23")
def _selector_in_sidecar_mode(_: Rendering) -> str:
    return when(
        "variables.selected && variables.mode == 'SidecarMode'",
        finding(
            "spec.submissionMode",
            "SidecarMode adds the submitter to the head Pod, which clusterSelector does not allow.",
            "Use K8sJobMode or HTTPMode.",
        ),
    )


@expression("J24")
def _selector_with_retries(_: Rendering) -> str:
    return when(
        "variables.selected && variables.backoffLimit > 0",
        finding(
            "spec.backoffLimit",
            "backoffLimit is {variables.backoffLimit}, but clusterSelector leaves no new RayCluster to retry on.",
            "Set backoffLimit: 0, or give the RayJob a rayClusterSpec.",
        ),
    )


@expression("J25")
def _interactive_with_retries(_: Rendering) -> str:
    return when(
        "variables.mode == 'InteractiveMode' && variables.backoffLimit > 0",
        finding(
            "spec.backoffLimit",
            "backoffLimit is {variables.backoffLimit}, but a job submitted by hand cannot be retried.",
            "Set backoffLimit: 0, or choose another submissionMode.",
        ),
    )


@expression("J26")
def _sidecar_with_template(_: Rendering) -> str:
    return when(
        "variables.mode == 'SidecarMode' && has(variables.spec.submitterPodTemplate)",
        finding(
            "spec.submitterPodTemplate",
            "submitterPodTemplate is set, but SidecarMode has no submitter Pod.",
            "Remove it, or use K8sJobMode.",
        ),
    )


@expression("J27")
def _sidecar_with_config(_: Rendering) -> str:
    return when(
        "variables.mode == 'SidecarMode' && has(variables.spec.submitterConfig)",
        finding(
            "spec.submitterConfig",
            "submitterConfig is set, but SidecarMode has no submitter Job.",
            "Remove it, or use K8sJobMode.",
        ),
    )


@expression("J28")
def _sidecar_with_restart(_: Rendering) -> str:
    return when(
        "variables.mode == 'SidecarMode' && !(variables.headRestartPolicy in ['', 'Never'])",
        finding(
            f"{HEAD_PATH}.template.spec.restartPolicy",
            "The head Pod has restartPolicy {variables.headRestartPolicy}, and SidecarMode allows Never only.",
            "Remove it or set Never.",
        ),
    )


@expression("J29")
def _kubernetes_token(_: Rendering) -> str:
    return when(
        "variables.cluster.?authOptions.?enableK8sTokenAuth.orValue(false)",
        finding(
            "spec.rayClusterSpec.authOptions.enableK8sTokenAuth",
            "enableK8sTokenAuth is not supported for a RayJob.",
            "Remove it; use authOptions.mode: token with a Secret.",
        ),
    )


def _not_positive(field: str, meaning: str) -> str:
    return when(
        f"variables.spec.?{field}.orValue(1) <= 0",
        finding(
            f"spec.{field}",
            f"{field} is {{variables.spec.{field}}}, and it must be at least 1.",
            f"Set the seconds that {meaning}, or remove it for no deadline.",
        ),
    )


@expression("J32")
def _active_deadline(_: Rendering) -> str:
    return _not_positive("activeDeadlineSeconds", "an attempt may take")


@expression("J33")
def _pre_running_deadline(_: Rendering) -> str:
    return _not_positive("preRunningDeadlineSeconds", "the RayJob may take until it is Running")


@expression("J34")
def _backoff_limit(_: Rendering) -> str:
    return when(
        "variables.backoffLimit < 0",
        finding(
            "spec.backoffLimit",
            "backoffLimit is {variables.backoffLimit}, and it may not be negative.",
            "Use 0 for no retry, or a number of retries.",
        ),
    )


@expression("J35")
def _waiting(_: Rendering) -> str:
    return when(
        "variables.status.?jobDeploymentStatus.orValue('') == 'Waiting' && variables.mode != 'InteractiveMode'",
        finding(
            "spec.submissionMode",
            "The RayJob waits for a job submitted by hand, but submissionMode is {variables.mode}.",
            "Delete the RayJob and create it anew instead of editing the mode.",
        ),
    )


@expression("C20")
def _token(_: Rendering) -> str:
    old = (
        "size(variables.rayNumbers) < 2 || variables.rayNumbers[0] < 2"
        " || (variables.rayNumbers[0] == 2 && variables.rayNumbers[1] < 52)"
    )
    return when(
        f"variables.cluster.?authOptions.?mode.orValue('') == 'token' && ({old})",
        finding(
            "spec.rayClusterSpec.rayVersion",
            "authOptions.mode is token, which needs Ray 2.52.0, but rayVersion "
            "{variables.rayVersion == '' ? 'is not set' : \"is '\" + variables.rayVersion + \"'\"}.",
            "Set rayVersion to the version in the image, 2.52.0 or later.",
        ),
    )


@expression("C25")
def _upgrade_strategy(_: Rendering) -> str:
    return when(
        "!variables.selected && has(variables.cluster.upgradeStrategy) && has(variables.cluster.upgradeStrategy.type)",
        finding(
            "spec.rayClusterSpec.upgradeStrategy.type",
            "The RayCluster of a RayJob cannot have an upgradeStrategy: it is refused with an event only, "
            "and the RayJob stays Initializing.",
            "Remove upgradeStrategy.",
        ),
    )
