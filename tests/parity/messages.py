"""Which rule a message of the operator is about."""

from __future__ import annotations

import re
from collections.abc import Mapping

OPERATOR: Mapping[str, str] = {
    "J1": r"RayJob name should be no more than 47",
    "J2": r"RayJob name should be a valid DNS1035",
    "J3": r"not allowed to be suspended",
    "J4": r"TTLSecondsAfterFinished must be",
    "J5": r"cannot have TTLSeconds",
    "J6": r"feature gate must be enabled to use DeletionStrategy",
    "J7": r"are mutually exclusive",
    "J8": r"Cannot use both legacy",
    "J9": r"cannot be empty\)",
    "J10": r"deletionRules\[\d+\]: (?:cannot set both|exactly one)",
    "J11": r"deletionRules\[\d+\]: TTLSeconds",
    "J12": r"deletionRules\[\d+\]: Deletion.*ClusterSelector",
    "J13": r"deletionRules\[\d+\]: .*autoscaling",
    "J14": r"deletionRules\[\d+\]: duplicate",
    "J15": r"^for Job",
    "J16": r"both DeletionStrategy\.On|cannot be unset when",
    "J17": r"ClusterSelector mode doesn't support Del",
    "J18": r"currently does not support RayCluster with",
    "J19": r"deletion policy is 'DeleteNone'",
    "J20": r"doesn't support the suspend",
    "J21": r"one of RayClusterSpec",
    "J22": r"cluster name in",
    "J23": r"ClusterSelector is not supported in Sidecar",
    "J24": r"incompatible with ClusterSelector",
    "J25": r"incompatible with Inter",
    "J26": r"support SubmitterPod",
    "J27": r"support SubmitterConf",
    "J28": r"when using SidecarMode",
    "J29": r"K8s token auth mode",
    "J31": r"unmarshal RuntimeEnvYAML",
    "J32": r"activeDeadline",
    "J33": r"preRunningDead",
    "J34": r"backoffLimit must",
    "J35": r"cannot be `Waiting`",
    "C1": r"at least one container",
    "C2": r"resource fields should",
    "C3": r"rayStartParams\['labels'\]|invalid label",
    "C4": r"must set both min",
    "C5": r"has negative m|greater than max",
    "C6": r"worker group .*idleTimeout",
    "C8": r"annotation and Gcs",
    "C9": r"implicitly enables",
    "C10": r"cannot set `(?:redis-p|REDIS_P|RAY_REDIS|ray\.io)",
    "C11": r"redis username",
    "C13": r"can be suspended only|cannot be suspended with",
    "C14": r"cannot be set to '",
    "C15": r"both \.spec\.autoscalerOptions\.v",
    "C16": r"when using autoscaler V2",
    "C17": r"autoscalerOptions\.idle",
    "C20": r"mode is 'token' but",
    "C21": r"enableK8sTokenAuth is",
}
"""A piece of the message of `jobDeploymentStatus: ValidationFailed` by rule, KubeRay 1.6."""

RAY_CLUSTER: Mapping[str, str] = {
    "C24": r"RayCluster name should be",
    "C25": r"upgradeStrategy cannot be set when RayCluster is created by",
}
"""A piece of the message of the RayCluster controller's event by rule."""

_BELOW = re.compile(r"deletionRules\[\d+\]: ")


def rule_of(message: str, known: Mapping[str, str] = OPERATOR) -> str:
    """Return the rule that a message is about.

    Raises:
        LookupError: No rule has such a message, or several have.
    """
    # The message about a runtime environment quotes the environment, which may have any text in it.
    first = message.partition("\n")[0].partition("RuntimeEnvYAML")
    text = first[0] + first[1] if first[1] else first[0]
    hits = [id for id, pattern in known.items() if re.search(pattern, text)]
    if len(hits) != 1:
        raise LookupError(f"The message {message!r} is about one rule, but these have such a message: {hits}.")
    return hits[0]
