"""Rules on network policy and TLS of the RayCluster."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import Job
from kuberay_model.rules.kubernetes import is_dns1123_label
from kuberay_model.rules.pods import Container, env_by_name
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import Fields, items, mapping, text
from kuberay_model.versions import Version

POLICY = "spec.rayClusterSpec.networkPolicy"
POLICY_GATE = "RayClusterNetworkPolicy"
TLS = "spec.rayClusterSpec.tlsOptions"
TLS_GATE = "RayClusterMTLS"
TLS_ENV = ("RAY_USE_TLS", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT")
TLS_VOLUME = "ray-tls"
TLS_PATH = "/etc/ray/tls"

_UNRESTRICTED = {"DenyAllEgress": "ingress", "DenyAllIngress": "egress"}


@rule("C22", "The network policy restricts what it has rules for, for groups that exist", since=Version(1, 7))
def network_policy(job: Job) -> Iterator[Problem]:
    """Rules for a direction that is open would have no effect."""
    if "networkPolicy" not in job.cluster:
        return
    policy = mapping(job.cluster["networkPolicy"])
    if not job.gate(POLICY_GATE):
        yield Problem(
            POLICY,
            f"networkPolicy needs the feature gate {POLICY_GATE} of the operator.",
            "Turn it on, or remove networkPolicy.",
        )
    mode = text(policy.get("mode"))
    for role in ("head", "worker"):
        yield from _open_direction(mode, mapping(policy.get(role)), f"{POLICY}.{role}")
    for group in job.workers:
        if not is_dns1123_label(group.name):
            yield Problem(
                f"{group.path}.groupName",
                f"The name of a NetworkPolicy contains {group.name!r}, which is no DNS-1123 label.",
                "Use lowercase letters, digits and '-' only.",
            )
    names = {group.name for group in job.workers}
    for i, entry in enumerate(items(policy.get("workerGroups"))):
        path, fields = f"{POLICY}.workerGroups[{i}]", mapping(entry)
        yield from _open_direction(mode, fields, path)
        if (name := text(fields.get("groupName"))) not in names:
            yield Problem(f"{path}.groupName", f"There is no worker group {name!r}.", "Name one that exists.")


def _open_direction(mode: str, fields: Fields, path: str) -> Iterator[Problem]:
    direction = _UNRESTRICTED.get(mode)
    if direction and items(fields.get(f"{direction}Rules")):
        yield Problem(
            f"{path}.{direction}Rules",
            f"The mode {mode} leaves {direction} open, so {direction} rules have no effect.",
            "Remove them, or use DenyAll.",
        )


@rule("C23", "With tlsOptions on, nothing else configures TLS", since=Version(1, 7))
def tls(job: Job) -> Iterator[Problem]:
    """The operator sets variables and mounts itself."""
    if "tlsOptions" not in job.cluster:
        return
    if not job.gate(TLS_GATE):
        yield Problem(
            TLS,
            f"tlsOptions needs the feature gate {TLS_GATE} of the operator.",
            "Turn it on, or remove tlsOptions.",
        )
    if mapping(job.cluster["tlsOptions"]).get("enabled") is not True:
        return
    options = "spec.rayClusterSpec.autoscalerOptions"
    for container in (
        *(group.ray_container for group in job.groups),
        Container(options, job.autoscaler_options),
    ):
        yield from _tls_conflicts(container)


def _tls_conflicts(container: Container) -> Iterator[Problem]:
    present = env_by_name(container.fields.get("env"))
    for name in TLS_ENV:
        if name in present:
            yield Problem(f"{container.path}.env", f"{name} is set by the operator.", "Remove it.")
    for i, mount in enumerate(container.volume_mounts):
        if mount.get("name") == TLS_VOLUME or mount.get("mountPath") == TLS_PATH:
            yield Problem(
                f"{container.path}.volumeMounts[{i}]",
                f"The operator mounts {TLS_VOLUME} at {TLS_PATH} itself.",
                "Use another name and path.",
            )
