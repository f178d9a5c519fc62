"""Policies on names, namespaces, labels and API versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from kuberay_model.rules.values import mapping, text
from kuberay_model.sentences import listed
from kuberay_model.versions import SUPPORTED, Version
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import KUEUE_GROUP, Context, identity
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import CLUSTER_PATHS, RAY_GROUP, RAY_VERSION, Scope

RAY_KINDS = frozenset(CLUSTER_PATHS)
LONGEST = {"RayJob": 47, "RayService": 47, "RayCluster": 53, "RayCronJob": 36}
"""Longest name by kind (`controllers/ray/utils/constant.go`); a RayCronJob's since 1.7, useful before."""
AUTO_NAME_SUFFIX = 9
"""What Pulumi appends to make a name of its own: a dash and 8 characters."""
CRON_JOBS = Version(1, 6)


class Namespaces(Parameters):
    """Parameters of P501."""

    forbidden: Annotated[
        tuple[str, ...],
        Field(strict=False, description="Namespaces that Ray workloads must not use. Default `default`."),
    ] = ("default",)
    required: Annotated[
        bool, Field(description="Also require that a namespace is written. Default false: tools may set it later.")
    ] = False


class Labels(Parameters):
    """Parameters of P502."""

    required: Annotated[
        tuple[str, ...],
        Field(strict=False, description="Labels that every Ray object has. Default none: the policy is idle."),
    ] = ()


@policy(
    "P501",
    "namespace-allowed",
    "Ray workloads run in a namespace of their own",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.WARNING,
    kinds=RAY_KINDS,
    parameters=Namespaces,
    why="Quotas, queues, network policies and rights are given by namespace; default usually has none of them.",
)
def namespace(subject: Subject, parameters: Namespaces, _: Context) -> Iterator[Problem]:
    """Look at metadata.namespace."""
    name = text(subject.metadata.get("namespace"))
    if name in parameters.forbidden:
        yield Problem("metadata.namespace", f"The namespace {name} is not allowed.", "Use one of the team's own.")
    elif not name and parameters.required:
        yield Problem(
            "metadata.namespace",
            "No namespace is written, so that of whoever applies the manifest is used.",
            "Write the namespace.",
        )


@policy(
    "P502",
    "labels-required",
    "Ray workloads have the labels by which they are found and paid for",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=RAY_KINDS,
    parameters=Labels,
    why="Without an owner nobody is asked before a RayCluster is deleted, and nobody pays for it.",
)
def labels(subject: Subject, parameters: Labels, _: Context) -> Iterator[Problem]:
    """Look for each label of the parameter."""
    present = mapping(subject.metadata.get("labels"))
    if missing := [name for name in parameters.required if not text(present.get(name))]:
        yield Problem("metadata.labels", f"The object has no {listed(missing, 'and no')}.", f"Add {listed(missing)}.")


@policy(
    "P503",
    "name-fits",
    "Names fit into the names that KubeRay makes of them",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=RAY_KINDS,
    why="KubeRay appends to the name for RayClusters, Services and Pods, and refuses an object whose name leaves no "
    "room. A name that Pulumi makes has 9 characters more than the resource. J1 looks at the name of a RayJob.",
    sources=("kuberay#3980",),
)
def name_fits(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Compare lengths, that of a name made by Pulumi included."""
    longest = LONGEST[subject.kind]
    if subject.options is not None and "name" not in subject.metadata:
        length = len(subject.resource_name) + AUTO_NAME_SUFFIX
        if length > longest:
            yield Problem(
                "metadata.name",
                f"Pulumi makes a name of {length} characters out of {subject.resource_name!r}, and a {subject.kind} "
                f"takes {longest}.",
                f"Set metadata.name, or name the resource with at most {longest - AUTO_NAME_SUFFIX} characters.",
            )
        return
    name = text(subject.metadata.get("name"))
    if subject.kind != "RayJob" and len(name) > longest:
        yield Problem(
            "metadata.name",
            f"The name has {len(name)} characters, and a {subject.kind} takes {longest}.",
            f"Use at most {longest} characters.",
        )


@policy(
    "P504",
    "name-given",
    "Each object of KubeRay and Kueue has a name of its own",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    why="With generateName each apply creates another object, and for a RayJob runs the job again. Without a name "
    "the API server refuses the object.",
)
def name_given(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for metadata.name; Pulumi makes one if there is none."""
    if subject.group not in (RAY_GROUP, KUEUE_GROUP) or subject.options is not None:
        return
    if text(subject.metadata.get("name")):
        return
    if subject.metadata.get("generateName"):
        wrong = "generateName gives the object another name at each apply, and so another object."
    else:
        wrong = "The object has no name."
    yield Problem("metadata.name", wrong, "Set metadata.name.")


@policy(
    "P505",
    "api-version-served",
    "The API version and kind are served by KubeRay",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    why="The API server refuses kinds and versions that no CRD serves. ray.io/v1alpha1 is deprecated: it drops most "
    "fields of ray.io/v1.",
    sources=("kuberay#5122",),
)
def api_version(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare objects of the group ray.io with the CRDs of the version."""
    if subject.group != RAY_GROUP:
        return
    settings = context.settings
    known = sorted(RAY_KINDS if settings.version >= CRON_JOBS else RAY_KINDS - {"RayCronJob"})
    if subject.kind not in known:
        yield Problem(
            "kind",
            f"KubeRay {settings.version} has no kind {subject.kind!r} in {RAY_GROUP}.",
            f"Use {listed(known, 'or')}.",
        )
    elif subject.api_version == f"{RAY_GROUP}/v1alpha1":
        yield Problem(
            "apiVersion", "ray.io/v1alpha1 is deprecated and drops fields without a word.", f"Use {RAY_VERSION}."
        )
    elif subject.api_version != RAY_VERSION:
        yield Problem(
            "apiVersion",
            f"KubeRay has no API version {subject.api_version!r}.",
            f"Use {RAY_VERSION}; known releases are {listed(str(version) for version in SUPPORTED)}.",
        )


@policy(
    "P506",
    "cron-jobs-enabled",
    "A RayCronJob has an operator that runs it",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"RayCronJob"}),
    why="The feature gate RayCronJob is off by default; the object is then accepted and never runs.",
)
def cron_jobs(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Look at the gate."""
    if subject.api_version == RAY_VERSION and context.settings.gates.get("RayCronJob") is False:
        yield Problem(
            "kind",
            "The feature gate RayCronJob of the operator is off, so nothing runs this object.",
            "Turn the gate on in the operator and in the settings (featureGates).",
        )


@policy(
    "P507",
    "objects-differ",
    "No object is given twice",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    stack_wide=True,
    why="Of two objects with the same kind, namespace and name the last one applied wins, or Pulumi and Argo CD fight "
    "over it.",
)
def twice(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare with the first object of that name."""
    if not subject.name:
        return
    first = context.stack.named(*_key(subject))
    if first is not None and first.subject is not subject:
        yield Problem(
            "metadata.name",
            f"{subject.title} is already given ({first.original.source}).",
            "Remove one of the two, or give it another name.",
        )


def _key(subject: Subject) -> tuple[str, str, str, str]:
    group, kind, namespace_, name = identity(subject)
    return group, kind, name, namespace_
