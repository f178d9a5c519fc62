"""Policies on the Deployment of the KubeRay operator."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.values import mapping
from kuberay_model.sentences import listed
from kuberay_model.versions import SUPPORTED, UnknownGateError, UnsupportedVersionError
from kuberay_model.versions import gates as all_gates
from kuberay_policies.operator_deployment import OperatorDeployment
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.quantities import quantity
from kuberay_policies.stack import Context
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Scope

DEPLOYMENT = frozenset({"Deployment"})
LEAST_MEMORY = "512Mi"


@policy(
    "P510",
    "operator-watches-namespaces",
    "The operator watches named namespaces",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.WARNING,
    kinds=DEPLOYMENT,
    why="An operator that watches every namespace needs rights in all of them, and two such operators act on the "
    "same objects.",
)
def watch(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for the flag watch-namespace."""
    operator = OperatorDeployment.of(subject)
    if operator is not None and not operator.configured_by_file and not operator.flag("watch-namespace"):
        yield Problem(
            f"{operator.path}.args",
            "The operator watches all namespaces.",
            "Set --watch-namespace (chart: watchNamespace, with singleNamespaceInstall: true for Roles).",
        )


@policy(
    "P511",
    "operator-leader-election",
    "An operator with several replicas elects a leader",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=DEPLOYMENT,
    why="Without election every replica reconciles every object at the same time: two RayClusters or two submitters "
    "for one RayJob.",
    sources=("kuberay#474",),
)
def leader_election(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at replicas and the flag enable-leader-election, which is on by default."""
    operator = OperatorDeployment.of(subject)
    if operator is None or operator.configured_by_file or operator.replicas < 2:
        return
    if (operator.flag("enable-leader-election") or "true").lower() in ("false", "0", "f"):
        yield Problem(
            "spec.replicas",
            f"{operator.replicas} replicas of the operator run without leader election.",
            "Set --enable-leader-election=true (chart: leaderElectionEnabled), or replicas: 1.",
        )


@policy(
    "P512",
    "operator-gates-known",
    "The operator is given gates of its version only",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=DEPLOYMENT,
    why="The operator exits at start when it is given a feature gate it does not know; gates differ by version.",
)
def gates_known(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare with the gates of the version in the image, of the settings if the image has none."""
    operator = OperatorDeployment.of(subject)
    if operator is None:
        return
    version = operator.version or context.settings.version
    for name, enabled in operator.feature_gates.items():
        try:
            all_gates(version, {name: enabled})
        except UnsupportedVersionError:
            return
        except UnknownGateError as error:
            yield Problem(f"{operator.path}.args", str(error), "Correct --feature-gates (chart: featureGates).")


@policy(
    "P513",
    "operator-gates-pinned",
    "Every feature gate of the operator is written out, as the settings say",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.WARNING,
    kinds=DEPLOYMENT,
    why="Defaults change between versions, so an upgrade turns features on that nobody asked for. Helm replaces the "
    "list of gates: naming one drops the others. Policies judge RayJobs by the gates of the settings.",
)
def gates_pinned(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare the flag with all gates of the settings."""
    operator = OperatorDeployment.of(subject)
    if operator is None:
        return
    given, expected = operator.feature_gates, context.settings.gates
    path = f"{operator.path}.args"
    if missing := [name for name in expected if name not in given]:
        yield Problem(
            path,
            f"The operator is not told whether {listed(missing, 'and')} {'is' if len(missing) == 1 else 'are'} on.",
            "Write all gates of the version, those with their default value too.",
        )
    for name, enabled in given.items():
        if expected.get(name, enabled) != enabled:
            yield Problem(
                path,
                f"The operator has {name}={str(enabled).lower()}, and the settings say the opposite.",
                "Make --feature-gates and featureGates in the settings equal.",
            )


@policy(
    "P514",
    "operator-version-known",
    "The operator has the version that the settings say",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=DEPLOYMENT,
    why="Rules and fields differ by version. A field that the operator does not know is dropped when it writes the "
    "object back (U18).",
)
def version_known(subject: Subject, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare the tag of the image with the settings."""
    operator = OperatorDeployment.of(subject)
    if operator is None or "@" in str(operator.container.get("image")):
        return
    path = f"{operator.path}.image"
    if operator.version is None:
        yield Problem(path, "The tag of the operator's image is no version.", f"Use v{context.settings.version}.")
    elif operator.version not in SUPPORTED:
        yield Problem(
            path,
            f"KubeRay {operator.version} is not a version with known rules.",
            f"Use {listed((str(version) for version in SUPPORTED), 'or')}.",
        )
    elif operator.version != context.settings.version:
        yield Problem(
            path,
            f"The operator is KubeRay {operator.version}, and the settings say {context.settings.version}.",
            "Make the image and kuberayVersion in the settings equal.",
        )


@policy(
    "P515",
    "operator-resources",
    "The operator has enough memory, and a limit",
    family=Family.OPERATIONS,
    scope=Scope.OBJECT,
    severity=Severity.WARNING,
    kinds=DEPLOYMENT,
    why="The operator keeps all Pods of its namespaces in memory, about 500 MB for 500 Ray Pods. One that is killed "
    "for want of memory restarts, and misses the end of jobs meanwhile.",
)
def resources(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at the limit of memory."""
    operator = OperatorDeployment.of(subject)
    if operator is None:
        return
    limits = mapping(mapping(operator.container.get("resources")).get("limits"))
    memory, least = quantity(limits.get("memory")), quantity(LEAST_MEMORY)
    if memory is None or (least is not None and memory < least):
        seen = f"is {limits['memory']}" if "memory" in limits else "is not set"
        yield Problem(f"{operator.path}.resources.limits.memory", f"The limit {seen}.", f"Set at least {LEAST_MEMORY}.")
