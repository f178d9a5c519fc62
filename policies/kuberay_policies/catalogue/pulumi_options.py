"""Policies on Pulumi's resource options, and on what KubeRay's CRDs need of whoever manages them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.sentences import listed
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import RAY_GROUP, Scope

REPLACING = ("*", "spec")
_HASH = re.compile(r"-(?=[0-9a-f]*\d)[0-9a-f]{6,}$")


@policy(
    "P520",
    "crds-protected",
    "Pulumi does not delete KubeRay's CRDs",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"CustomResourceDefinition"}),
    needs_options=True,
    why="Deleting a CRD deletes every RayJob, RayCluster and RayService of the cluster with it. `pulumi destroy`, or "
    "a chart that no longer has the CRD, would do so.",
)
def crds_protected(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at protect and retainOnDelete."""
    options = subject.options
    is_ray = mapping(subject.manifest.get("spec")).get("group") == RAY_GROUP
    if is_ray and options is not None and not (options.protect or options.retain_on_delete):
        yield Problem(
            "",
            "The CRD is neither protected nor retained: with it go all objects of its kind.",
            "Set protect=True and retain_on_delete=True.",
        )


@policy(
    "P521",
    "job-replaced-on-change",
    "A change of a RayJob replaces it",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"RayJob"}),
    needs_options=True,
    why="KubeRay ignores changes of a RayJob that runs or has ended: `pulumi up` reports an update, and nothing runs. "
    "With a fixed name the old object must be deleted first, or Pulumi deletes the new one.",
    sources=("kuberay#1776", "kuberay#1777", "pulumi-kubernetes#4522"),
)
def job_replaced(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for replaceOnChanges with deleteBeforeReplace, or for a name made from the content."""
    options = subject.options
    if options is None or options.replace_on_changes is None:
        return
    fixed = "name" in subject.metadata
    if fixed and _HASH.search(text(subject.metadata.get("name"))):
        return
    if not any(name in REPLACING or name.startswith("spec") for name in options.replace_on_changes):
        yield Problem(
            "spec",
            "A change of the spec updates the RayJob, which KubeRay ignores.",
            'Set replace_on_changes=["spec"] and delete_before_replace=True, or put a hash of the content into '
            "the name.",
        )
    elif fixed and not options.delete_before_replace:
        yield Problem(
            "metadata.name",
            "The name is fixed, so on replacement Pulumi creates the object under the same name and then deletes it.",
            "Set delete_before_replace=True.",
        )


@policy(
    "P522",
    "no-ignored-spec",
    "Pulumi does not ignore the spec of a RayJob",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.WARNING,
    kinds=frozenset({"RayJob"}),
    needs_options=True,
    why="With ignoreChanges on the spec no change of the program ever reaches the cluster.",
)
def ignored_spec(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at ignoreChanges; fields that Kueue or the operator write may be ignored."""
    options = subject.options
    ignored = [] if options is None else [name for name in options.ignore_changes if name in REPLACING]
    if ignored:
        yield Problem(
            "spec",
            f"ignore_changes has {listed(ignored)}, so changes of the program are never applied.",
            "Ignore single fields only, such as spec.suspend.",
        )


@policy(
    "P523",
    "crds-versions",
    "CRDs of KubeRay serve ray.io/v1",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"CustomResourceDefinition"}),
    why="Old CRDs drop fields that they do not have. `helm upgrade` never upgrades CRDs, so those of an old release "
    "stay.",
    sources=("ray#44826", "ray#40555"),
)
def crds_versions(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for version v1."""
    spec = mapping(subject.manifest.get("spec"))
    versions = [mapping(version) for version in items(spec.get("versions"))]
    if spec.get("group") == RAY_GROUP and not any(
        version.get("name") == "v1" and version.get("served") for version in versions
    ):
        yield Problem(
            "spec.versions",
            f"The CRD does not serve {RAY_GROUP}/v1.",
            "Use the CRDs of the operator's release.",
        )
