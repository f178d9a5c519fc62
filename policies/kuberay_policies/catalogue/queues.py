"""Policies on what queued objects and queues refer to: it must be among the objects that are checked together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.sentences import listed, nearest
from kuberay_policies.catalogue.kueue import QUEUE_PATH, QUEUED_KINDS, queue
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import KUEUE_GROUP, Context
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Scope

PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
PRIORITY_PATH = f"metadata.labels[{PRIORITY_LABEL}]"

_ELSEWHERE = Field(
    strict=False,
    description="Names that exist in the cluster without being checked here. Default none.",
)


class Elsewhere(Parameters):
    """Parameters of P208 to P211: by default names are looked for only if the checked objects have any of the kind."""

    known: Annotated[tuple[str, ...], _ELSEWHERE] = ()
    required: Annotated[
        bool, Field(description="Look for names even if no object of the kind is checked. Default false.")
    ] = False


def _missing(
    context: Context, parameters: Elsewhere, kind: str, name: str, namespace: str = ""
) -> tuple[str, str] | None:
    """Return what is wrong and what to do if an object is not there, None if it is or if nothing can be said."""
    there = [parts.subject for parts in context.stack.of_kind(KUEUE_GROUP, kind)]
    if name in parameters.known or not (there or parameters.known or parameters.required):
        return None
    if any(
        (text(subject.metadata.get("name")), text(subject.metadata.get("namespace"))) == (name, namespace)
        for subject in there
    ):
        return None
    names = [*(subject.name for subject in there if subject.namespace == namespace), *parameters.known]
    where = f" in the namespace {namespace}" if namespace else ""
    similar = nearest(name, names)
    known = f" Known there: {listed(sorted(set(names)))}." if names else ""
    return (
        f"There is no {kind} {name!r}{where}.",
        f"Did you mean {similar}?" if similar else f"Create it, or name one that exists.{known}",
    )


@policy(
    "P208",
    "local-queue-exists",
    "The LocalQueue of a queued object exists",
    family=Family.KUEUE,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    parameters=Elsewhere,
    stack_wide=True,
    why="An object whose queue does not exist stays suspended without an error.",
)
def local_queue(subject: Subject, parameters: Elsewhere, context: Context) -> Iterator[Problem]:
    """Look for the LocalQueue in the namespace of the object."""
    if name := queue(subject):
        namespace = text(subject.metadata.get("namespace"))
        if missing := _missing(context, parameters, "LocalQueue", name, namespace):
            yield Problem(QUEUE_PATH, *missing)


@policy(
    "P209",
    "cluster-queue-exists",
    "The ClusterQueue of a LocalQueue exists",
    family=Family.KUEUE,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"LocalQueue"}),
    parameters=Elsewhere,
    stack_wide=True,
    why="A LocalQueue without its ClusterQueue admits nothing.",
)
def cluster_queue(subject: Subject, parameters: Elsewhere, context: Context) -> Iterator[Problem]:
    """Look for the ClusterQueue."""
    name = text(mapping(subject.manifest.get("spec")).get("clusterQueue"))
    if subject.group == KUEUE_GROUP and (missing := _missing(context, parameters, "ClusterQueue", name)):
        yield Problem("spec.clusterQueue", *missing)


@policy(
    "P210",
    "resource-flavor-exists",
    "The ResourceFlavors of a ClusterQueue exist",
    family=Family.KUEUE,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"ClusterQueue"}),
    parameters=Elsewhere,
    stack_wide=True,
    why="A ClusterQueue with an unknown flavor is inactive and admits nothing.",
)
def resource_flavors(subject: Subject, parameters: Elsewhere, context: Context) -> Iterator[Problem]:
    """Look for each flavor."""
    if subject.group != KUEUE_GROUP:
        return
    groups = items(mapping(subject.manifest.get("spec")).get("resourceGroups"))
    for i, group in enumerate(groups):
        for j, flavor in enumerate(items(mapping(group).get("flavors"))):
            name = text(mapping(flavor).get("name"))
            if missing := _missing(context, parameters, "ResourceFlavor", name):
                yield Problem(f"spec.resourceGroups[{i}].flavors[{j}].name", *missing)


@policy(
    "P211",
    "priority-class-exists",
    "The WorkloadPriorityClass of a queued object exists",
    family=Family.KUEUE,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=QUEUED_KINDS,
    parameters=Elsewhere,
    stack_wide=True,
    why="Kueue makes no Workload for an object with an unknown priority class, so it stays suspended.",
)
def priority_class(subject: Subject, parameters: Elsewhere, context: Context) -> Iterator[Problem]:
    """Look for the WorkloadPriorityClass, and for a queue without which it means nothing."""
    name = text(mapping(subject.metadata.get("labels")).get(PRIORITY_LABEL))
    if not name:
        return
    if not queue(subject):
        yield Problem(
            PRIORITY_PATH,
            "The object has a priority for Kueue, but names no queue, so Kueue does not see it.",
            "Add the label kueue.x-k8s.io/queue-name, or remove this one.",
        )
    elif missing := _missing(context, parameters, "WorkloadPriorityClass", name):
        yield Problem(PRIORITY_PATH, *missing)
