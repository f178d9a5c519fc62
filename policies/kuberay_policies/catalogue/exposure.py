"""Policies on who can reach Ray: whoever reaches the dashboard, the client port or the GCS can run any code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.versions import Version
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Cluster, Scope

OUTSIDE = ("LoadBalancer", "NodePort")
HEAD_SUFFIX = "-head-svc"
NODE_TYPE = "ray.io/node-type"


class Exposure(Parameters):
    """Parameters of P302."""

    with_token: Annotated[
        bool, Field(description="Allow exposure of clusters with token authentication. Default true.")
    ] = True


@policy(
    "P301",
    "token-authentication",
    "Ray asks for a token",
    family=Family.SECURITY,
    scope=Scope.CLUSTER,
    severity=Severity.WARNING,
    why="Without it every Pod that reaches the head can submit jobs, that is run any code (CVE-2023-48022, "
    "ShadowRay). Ray 2.52 and KubeRay 1.5.1 brought token authentication, which is off by default.",
    sources=("Ray documentation: Security", "CVE-2023-48022"),
)
def token(cluster: Cluster, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at authOptions.mode."""
    if not cluster.has_token and not (cluster.job is not None and cluster.job.selects_cluster):
        yield Problem(
            f"{cluster.path}.authOptions.mode",
            "Ray asks nobody for a token: every Pod that reaches the head can run code.",
            "Set authOptions.mode: token, with rayVersion 2.52.0 or later.",
        )


@policy(
    "P302",
    "dashboard-not-exposed",
    "The head is not reachable from outside of the cluster",
    family=Family.SECURITY,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    parameters=Exposure,
    why="The Service of the head carries the dashboard, the Ray client and the GCS. Open to a network it lets "
    "anybody run code.",
    sources=("Ray documentation: Security", "CVE-2023-48022"),
)
def dashboard(cluster: Cluster, parameters: Exposure, _: Context) -> Iterator[Problem]:
    """Look at the Service and the Ingress that KubeRay makes for the head."""
    if parameters.with_token and cluster.has_token:
        return
    head, path = cluster.head.fields, cluster.head.path
    service = mapping(mapping(head.get("headService")).get("spec"))
    for place, kind in (
        (f"{path}.serviceType", head.get("serviceType")),
        (f"{path}.headService.spec.type", service.get("type")),
    ):
        if kind in OUTSIDE:
            yield Problem(
                place,
                f"A Service of type {kind} opens dashboard, Ray client and GCS to the network.",
                "Use ClusterIP, and reach the dashboard by `kubectl port-forward` or an authenticating proxy.",
            )
    if head.get("enableIngress") is True:
        yield Problem(
            f"{path}.enableIngress",
            "The Ingress that KubeRay makes opens the dashboard without asking who is there.",
            "Set enableIngress: false, or turn on token authentication.",
        )


@policy(
    "P303",
    "head-not-published",
    "No Service, Ingress or HTTPRoute of its own publishes a Ray head",
    family=Family.SECURITY,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"Service", "Ingress", "HTTPRoute"}),
    why="It opens the dashboard of a RayCluster to a network without asking who is there.",
    sources=("CVE-2023-48022",),
)
def published(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for backends that are heads: by KubeRay's name of the Service, or by its label."""
    spec = mapping(subject.manifest.get("spec"))
    if subject.kind == "Service":
        selects_head = mapping(spec.get("selector")).get(NODE_TYPE) == "head"
        if spec.get("type") in OUTSIDE and selects_head:
            yield Problem(
                "spec.type",
                f"A Service of type {spec['type']} in front of a Ray head opens it to the network.",
                "Use ClusterIP.",
            )
        return
    for path, name in _backends(subject.kind, spec):
        if name.endswith(HEAD_SUFFIX):
            yield Problem(
                path,
                f"{subject.kind} publishes {name}, the Service of a Ray head.",
                "Publish an authenticating proxy instead, or waive this policy with the reason why it is safe.",
            )


def _backends(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if kind == "HTTPRoute":
        for i, rule in enumerate(items(spec.get("rules"))):
            for j, backend in enumerate(items(mapping(rule).get("backendRefs"))):
                yield f"spec.rules[{i}].backendRefs[{j}].name", text(mapping(backend).get("name"))
        return
    default = mapping(mapping(spec.get("defaultBackend")).get("service"))
    yield "spec.defaultBackend.service.name", text(default.get("name"))
    for i, rule in enumerate(items(spec.get("rules"))):
        for j, route in enumerate(items(mapping(mapping(rule).get("http")).get("paths"))):
            service = mapping(mapping(mapping(route).get("backend")).get("service"))
            yield f"spec.rules[{i}].http.paths[{j}].backend.service.name", text(service.get("name"))


class Network(Parameters):
    """Parameters of P304."""

    required: Annotated[
        bool, Field(description="Also require it where no NetworkPolicy at all is checked. Default false.")
    ] = False


@policy(
    "P304",
    "network-policy",
    "A NetworkPolicy protects the Pods of a RayCluster",
    family=Family.SECURITY,
    scope=Scope.CLUSTER,
    severity=Severity.WARNING,
    parameters=Network,
    stack_wide=True,
    why="Ray trusts its network. A NetworkPolicy in the namespace, or spec.networkPolicy of KubeRay 1.7, says who "
    "may reach the Pods. If no NetworkPolicy is among the checked objects they are taken to be kept elsewhere.",
    sources=("Ray documentation: Security", "ray#65074"),
)
def network_policy(cluster: Cluster, parameters: Network, context: Context) -> Iterator[Problem]:
    """Look for a NetworkPolicy in the namespace, or for KubeRay's own."""
    if cluster.job is not None and cluster.job.selects_cluster:
        return
    own = mapping(cluster.fields.get("networkPolicy")).get("mode")
    if own and context.settings.version >= Version(1, 7):
        return
    there = context.stack.of_kind("networking.k8s.io", "NetworkPolicy")
    namespace = text(cluster.subject.metadata.get("namespace"))
    if not (there or parameters.required):
        return
    if not any(text(parts.subject.metadata.get("namespace")) == namespace for parts in there):
        yield Problem(
            "metadata.namespace",
            f"No NetworkPolicy protects the namespace {namespace or 'of this object'}.",
            "Add a NetworkPolicy that denies ingress to Pods with ray.io/node-type from elsewhere.",
        )
