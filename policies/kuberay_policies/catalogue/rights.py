"""Policies on the rights (RBAC) of the operator and of Ray's Pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.sentences import listed
from kuberay_model.versions import Version
from kuberay_policies.operator_deployment import OperatorDeployment
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Pod, Scope

RBAC_GROUP = "rbac.authorization.k8s.io"
BINDING_KINDS = ("RoleBinding", "ClusterRoleBinding")

_NEEDED: tuple[tuple[Version, str, str, str], ...] = (
    (Version(1, 0), "ray.io", "rayjobs", "update"),
    (Version(1, 0), "ray.io", "rayclusters", "create"),
    (Version(1, 0), "batch", "jobs", "create"),
    (Version(1, 0), "", "pods", "create"),
    (Version(1, 0), "", "services", "create"),
    (Version(1, 7), "", "persistentvolumeclaims", "watch"),
    (Version(1, 7), "events.k8s.io", "events", "create"),
)
"""Since which version the operator needs a verb on a resource of an API group to do its work."""


@policy(
    "P516",
    "operator-rights",
    "The operator has the rights that its version needs",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"Deployment"}),
    stack_wide=True,
    why="A new operator with the roles of an old one starts and then stops: 1.7 waits for PersistentVolumeClaims "
    "that it may not watch. It is checked if roles bound to the operator are among the checked objects.",
    sources=("kuberay-helm#26", "kuberay#1083", "kuberay#1106"),
)
def operator_rights(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Add up the rules of all roles that are bound to the operator's ServiceAccount."""
    operator = OperatorDeployment.of(subject)
    if operator is None:
        return
    namespace = text(subject.metadata.get("namespace"))
    rules = [rule for role in _roles(context, operator.service_account, namespace) for rule in _rules(role)]
    if not rules:
        return
    version = operator.version or context.settings.version
    missing = [
        f"{verb} {resource}{f'.{group}' if group else ''}"
        for since, group, resource, verb in _NEEDED
        if version >= since and not any(_allows(rule, group, resource, verb) for rule in rules)
    ]
    if missing:
        yield Problem(
            "spec.template.spec.serviceAccountName",
            f"The roles of ServiceAccount {operator.service_account!r} do not allow to {listed(missing, 'and to')}.",
            f"Use the roles of KubeRay {version}.",
        )


@policy(
    "P517",
    "operator-rights-narrow",
    "An operator that watches named namespaces has rights in those only",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.WARNING,
    kinds=frozenset({"Deployment"}),
    stack_wide=True,
    why="With a ClusterRoleBinding the operator may create Pods and read Secrets in every namespace, although it acts "
    "in few.",
)
def operator_rights_narrow(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Look for ClusterRoleBindings of a namespaced operator."""
    operator = OperatorDeployment.of(subject)
    if operator is None or not operator.flag("watch-namespace"):
        return
    namespace = text(subject.metadata.get("namespace"))
    for binding in _bindings(context, operator.service_account, namespace):
        role = _role(context, binding)
        if binding.kind == "ClusterRoleBinding" and (role is None or any(_writes(rule) for rule in _rules(role))):
            yield Problem(
                "spec.template.spec.serviceAccountName",
                f"The operator watches {operator.flag('watch-namespace')} and has rights in all namespaces "
                f"({binding.title}).",
                "Bind its role with a RoleBinding in each namespace (chart: singleNamespaceInstall: true).",
            )


@policy(
    "P518",
    "pods-without-admin",
    "Ray's Pods do not run with an administrator's rights",
    family=Family.OPERATIONS,
    scope=Scope.POD,
    severity=Severity.ERROR,
    stack_wide=True,
    why="Every job can use the ServiceAccount of its Pod. With cluster-admin, or with the operator's own account, it "
    "owns the cluster.",
)
def pods_without_admin(pod: Pod, _: Parameters, context: Context) -> Iterator[Problem]:
    """Look at the account, and at what is bound to it."""
    account = text(pod.spec.get("serviceAccountName")) or "default"
    namespace = text(pod.subject.metadata.get("namespace"))
    path = f"{pod.path}.spec.serviceAccountName"
    for binding in _bindings(context, account, namespace):
        name = text(mapping(binding.manifest.get("roleRef")).get("name"))
        role = _role(context, binding)
        everything = role is not None and any(_allows(rule, "*", "*", "*") for rule in _rules(role))
        if name == "cluster-admin" or everything:
            yield Problem(
                path,
                f"{pod.title} runs as {account!r}, which {binding.title} gives all rights.",
                "Use a ServiceAccount without rights.",
            )
    for parts in context.stack.of_kind("apps", "Deployment"):
        operator = OperatorDeployment.of(parts.subject)
        if (
            operator is not None
            and operator.service_account == account != "default"
            and text(parts.subject.metadata.get("namespace")) == namespace
        ):
            yield Problem(
                path, f"{pod.title} runs as the operator's own ServiceAccount {account!r}.", "Use another one."
            )


def _bindings(context: Context, account: str, namespace: str) -> Iterator[Subject]:
    for kind in BINDING_KINDS:
        for parts in context.stack.of_kind(RBAC_GROUP, kind):
            for entry in items(parts.subject.manifest.get("subjects")):
                fields = mapping(entry)
                home = text(fields.get("namespace")) or namespace
                if fields.get("kind") == "ServiceAccount" and (fields.get("name"), home) == (account, namespace):
                    yield parts.subject


def _role(context: Context, binding: Subject) -> Subject | None:
    reference = mapping(binding.manifest.get("roleRef"))
    kind, name = text(reference.get("kind")), text(reference.get("name"))
    namespace = text(binding.metadata.get("namespace")) if kind == "Role" else ""
    found = context.stack.named(RBAC_GROUP, kind, name, namespace)
    return None if found is None else found.subject


def _roles(context: Context, account: str, namespace: str) -> Iterator[Subject]:
    for binding in _bindings(context, account, namespace):
        if (role := _role(context, binding)) is not None:
            yield role


def _rules(role: Subject) -> Iterator[Mapping[str, Any]]:
    return (mapping(rule) for rule in items(role.manifest.get("rules")))


def _allows(rule: Mapping[str, Any], group: str, resource: str, verb: str) -> bool:
    return all(
        wanted in items(rule.get(field)) or "*" in items(rule.get(field))
        for field, wanted in (("apiGroups", group), ("resources", resource), ("verbs", verb))
    )


def _writes(rule: Mapping[str, Any]) -> bool:
    return any(verb in items(rule.get("verbs")) for verb in ("create", "update", "patch", "delete", "*"))
