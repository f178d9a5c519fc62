"""Pages on rules, for people: one rule as text or Markdown, and all of them as one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kuberay_model.rules.registry import Layer, Rule
from kuberay_model.sentences import listed
from kuberay_model.versions import SUPPORTED, Version

FAMILIES = {
    "X": "Rules of the CRD",
    "J": "Rules of the operator for RayJobs",
    "C": "Rules of the operator for RayClusters",
    "U": "What nobody refuses although it breaks",
}
"""Heading by the first letter of an id, in the order of the page."""

_REACTIONS = {
    Layer.API_SERVER: "The API server refuses the object.",
    Layer.OPERATOR: "The operator writes `jobDeploymentStatus: ValidationFailed`, which a later edit does not cure.",
    Layer.RAY_CLUSTER: "The RayJob is accepted, but the RayCluster controller refuses the RayCluster made from it.",
    Layer.NOBODY: "Nobody refuses it, and it does not do what its author expects.",
}
_HEADER = """\
# Rules

Every rule that is checked in a RayJob before it is applied. `kuberay-policies explain ID` shows one of them.
This page is made by `python -m kuberay_model.rules_page`.
"""


def facts(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a rule besides its id and title: a heading and a text each."""
    yield "Who reacts", _REACTIONS[rule.layer]
    yield "Severity", rule.severity.value
    yield "Versions", versions(rule)
    if rule.check is None:
        yield "Check", "Explained only: no check of its own."
    elif rule.check.__doc__:
        yield "Check", " ".join(rule.check.__doc__.split())
    if rule.note:
        yield "Note", rule.note
    if rule.aliases:
        yield "Also known as", listed(rule.aliases)


def versions(rule: Rule) -> str:
    """Say which of the supported versions have the rule."""
    if rule.since is None and rule.until is None:
        return "all"
    return listed(_short([version for version in SUPPORTED if rule.holds_in(version)]))


def text(rule: Rule) -> str:
    """Return the page on one rule as plain text."""
    lines = [f"{rule.id}  {rule.title}.", ""]
    lines += [f"{name + ':':<15}{value.replace('`', '')}" for name, value in facts(rule)]
    return "\n".join(lines)


def markdown(rule: Rule) -> str:
    """Return the page on one rule as a Markdown section."""
    lines = [f"### {rule.id}: {rule.title}", ""]
    lines += [f"- **{name}**: {value}" for name, value in facts(rule)]
    return "\n".join(lines)


def document(rules: Iterable[Rule]) -> str:
    """Return the page on all rules as Markdown, by family and number."""
    parts = [_HEADER]
    ordered = sorted(rules, key=lambda rule: int(rule.id[1:]))
    for letter, heading in FAMILIES.items():
        parts.append(f"## {heading}\n")
        parts += [f"{markdown(rule)}\n" for rule in ordered if rule.id[0] == letter]
    return "\n".join(parts)


def _short(versions: Iterable[Version]) -> list[str]:
    return list(dict.fromkeys(f"{version.major}.{version.minor}" for version in versions))
