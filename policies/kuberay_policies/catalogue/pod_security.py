"""Policies on the rights of Ray's Pods: the Pod Security Standards of Kubernetes, baseline and restricted."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.sentences import listed
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.targets import Container, Pod, Role, Scope

BASELINE_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
SECCOMP = frozenset({"RuntimeDefault", "Localhost"})
STANDARD = "Kubernetes documentation: Pod Security Standards"


@policy(
    "P310",
    "host-not-shared",
    "Ray's Pods share nothing with their node",
    family=Family.SECURITY,
    scope=Scope.POD,
    severity=Severity.ERROR,
    why="Jobs run code of many people. With the node's network, processes or files, that code owns the node.",
    sources=(STANDARD,),
)
def host_not_shared(pod: Pod, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for namespaces and paths of the host."""
    for field in HOST_NAMESPACES:
        if pod.spec.get(field) is True:
            yield Problem(f"{pod.path}.spec.{field}", f"{pod.title} shares {field} with its node.", "Remove it.")
    for index, volume in enumerate(items(pod.spec.get("volumes"))):
        if "hostPath" in mapping(volume):
            path = text(mapping(mapping(volume).get("hostPath")).get("path"))
            yield Problem(
                f"{pod.path}.spec.volumes[{index}].hostPath",
                f"{pod.title} mounts {path or 'a path'} of its node.",
                "Use a PersistentVolumeClaim, a CSI volume or emptyDir.",
            )


@policy(
    "P311",
    "container-not-privileged",
    "No container has rights beyond the baseline",
    family=Family.SECURITY,
    scope=Scope.CONTAINER,
    severity=Severity.ERROR,
    why="A privileged container owns its node; so does one with capabilities such as SYS_ADMIN.",
    sources=(STANDARD,),
)
def not_privileged(container: Container, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at privileged, capabilities, host ports and procMount."""
    context = mapping(container.fields.get("securityContext"))
    path = f"{container.path}.securityContext"
    if context.get("privileged") is True:
        yield Problem(f"{path}.privileged", f"Container {container.name!r} is privileged.", "Remove privileged.")
    added = [text(name).removeprefix("CAP_") for name in items(mapping(context.get("capabilities")).get("add"))]
    if extra := sorted(set(added) - BASELINE_CAPABILITIES):
        yield Problem(
            f"{path}.capabilities.add",
            f"Container {container.name!r} has the capabilities {listed(extra)}.",
            "Remove them.",
        )
    if context.get("procMount") not in (None, "Default"):
        yield Problem(f"{path}.procMount", "procMount unmasks /proc of the node.", "Remove it.")
    for index, port in enumerate(items(container.fields.get("ports"))):
        if mapping(port).get("hostPort"):
            yield Problem(
                f"{container.path}.ports[{index}].hostPort",
                f"Container {container.name!r} takes a port of its node, open to the node's network.",
                "Remove hostPort; KubeRay makes Services.",
            )


@policy(
    "P312",
    "container-restricted",
    "Each container runs restricted: not as root, without escalation, capabilities and unfiltered system calls",
    family=Family.SECURITY,
    scope=Scope.CONTAINER,
    severity=Severity.WARNING,
    why="The restricted Pod Security Standard; a namespace that enforces it refuses other Pods, and the RayJob then "
    "hangs in Initializing.",
    sources=(STANDARD, "Ray documentation: Pod security"),
)
def restricted(container: Container, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at the four settings, in the container first and then in its Pod."""
    of_pod = mapping(container.pod.spec.get("securityContext"))
    own = mapping(container.fields.get("securityContext"))
    wanted: list[str] = []
    if (own if "runAsNonRoot" in own else of_pod).get("runAsNonRoot") is not True:
        wanted.append("runAsNonRoot: true")
    if (own if "runAsUser" in own else of_pod).get("runAsUser") == 0:
        wanted.append("a runAsUser other than 0")
    if own.get("allowPrivilegeEscalation") is not False:
        wanted.append("allowPrivilegeEscalation: false")
    if "ALL" not in items(mapping(own.get("capabilities")).get("drop")):
        wanted.append("capabilities.drop: [ALL]")
    profile = mapping((own if "seccompProfile" in own else of_pod).get("seccompProfile"))
    if text(profile.get("type")) not in SECCOMP:
        wanted.append("seccompProfile.type: RuntimeDefault")
    if wanted:
        yield Problem(
            f"{container.path}.securityContext",
            f"Container {container.name!r} of {_lower(container.pod.title)} does not run restricted.",
            f"Set {listed(wanted)}.",
        )


@policy(
    "P313",
    "no-service-account-token",
    "Only a head that autoscales has a token of a service account",
    family=Family.SECURITY,
    scope=Scope.POD,
    severity=Severity.WARNING,
    why="Every job can read the token and act on the API server with it. The autoscaler in the head Pod needs it, "
    "and so does nothing else.",
    sources=("Kubernetes documentation: Configure Service Accounts for Pods",),
)
def service_account_token(pod: Pod, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at automountServiceAccountToken."""
    autoscales = pod.role is Role.HEAD and pod.group is not None and pod.group.cluster.autoscaling
    if not autoscales and pod.spec.get("automountServiceAccountToken") is not False:
        yield Problem(
            f"{pod.path}.spec.automountServiceAccountToken",
            f"{pod.title} gets a token for the API server that it does not need.",
            "Set automountServiceAccountToken: false.",
        )


def _lower(title: str) -> str:
    return title[0].lower() + title[1:]
