"""Rules of the CRD: what the API server refuses, and fields it drops without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_model.rules.fields import RAY_JOB, Field
from kuberay_model.rules.job import Job
from kuberay_model.rules.registry import Layer, Problem, Severity, rule
from kuberay_model.rules.values import INT32_MAX, integer, items, mapping
from kuberay_model.sentences import listed, nearest
from kuberay_model.versions import Version

MANAGERS = ("ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue")
STRATEGY = "spec.deletionStrategy"

_ARTICLES = {
    "object": "a mapping",
    "map": "a mapping",
    "list": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
}

Node = tuple[str, Field, Any]


def _nodes(job: Job) -> Iterator[Node]:
    """Yield path, field and value of every known field that is set, as far as types allow to descend."""
    yield from _below("", RAY_JOB, job.manifest, job.version)


def _below(path: str, shape: Field, value: Any, version: Version) -> Iterator[Node]:
    yield path, shape, value
    if not _has_type(value, shape):
        return
    if shape.kind == "object":
        for name, child in shape.fields.items():
            if name in value and child.known_in(version):
                yield from _below(f"{path}.{name}".lstrip("."), child, value[name], version)
    elif shape.item is not None:
        entries = value.items() if shape.kind == "map" else enumerate(value)
        for key, entry in entries:
            yield from _below(f"{path}[{key}]", shape.item, entry, version)


def _has_type(value: Any, shape: Field) -> bool:
    match shape.kind:
        case "object" | "map":
            return isinstance(value, Mapping)
        case "list":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return integer(value) is not None
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)


@rule("X1", "Every field has the type that the CRD gives it", layer=Layer.API_SERVER)
def types(job: Job) -> Iterator[Problem]:
    """Compare types; YAML reads an unquoted 1 as an integer and yes as true."""
    for path, shape, value in _nodes(job):
        if not _has_type(value, shape):
            quoted = shape.kind == "string" and isinstance(value, bool | int | float)
            yield Problem(
                path,
                f"{_shown(value)} is given where {_ARTICLES[shape.kind]} is expected.",
                f'Quote it: "{_shown(value)}".' if quoted else f"Write {_ARTICLES[shape.kind]}.",
            )


@rule("X2", "Every field that the CRD requires is set", layer=Layer.API_SERVER)
def required(job: Job) -> Iterator[Problem]:
    """Look for missing fields below objects that are set."""
    for path, shape, value in _nodes(job):
        if shape.kind == "object" and _has_type(value, shape):
            for name, child in shape.fields.items():
                if child.required_in(job.version) and name not in value:
                    yield Problem(f"{path}.{name}", f"{name} is missing.", "Add it.")


@rule("X3", "Every field has one of the values that the CRD allows", layer=Layer.API_SERVER)
def allowed_values(job: Job) -> Iterator[Problem]:
    """Compare with enums; letter case counts."""
    for path, shape, value in _nodes(job):
        if shape.values and isinstance(value, str) and value not in shape.values:
            yield Problem(path, f"{value!r} is not allowed.", f"Use {listed(shape.values, 'or')}.")


@rule("X4", "Every integer is within the limits of the CRD", layer=Layer.API_SERVER)
def ranges(job: Job) -> Iterator[Problem]:
    """Compare with minimum and with 32 bits."""
    for path, shape, value in _nodes(job):
        number = integer(value) if shape.kind == "integer" else None
        if number is None:
            continue
        if shape.minimum is not None and number < shape.minimum:
            yield Problem(path, f"{number} is too small.", f"Use {shape.minimum} or more.")
        elif not -INT32_MAX - 1 <= number <= INT32_MAX:
            yield Problem(path, f"{number} does not fit into 32 bits.", f"Use at most {INT32_MAX}.")


@rule("X5", "Items of a list that is keyed by name have different names", layer=Layer.API_SERVER)
def duplicates(job: Job) -> Iterator[Problem]:
    """Containers and environment variables of Pod templates are such lists."""
    for path, shape, value in _nodes(job):
        if not shape.key or not _has_type(value, shape):
            continue
        seen: dict[str, int] = {}
        for i, entry in enumerate(value):
            key = mapping(entry).get(shape.key)
            if isinstance(key, str) and (first := seen.setdefault(key, i)) != i:
                yield Problem(
                    f"{path}[{i}]",
                    f"It has the same {shape.key} {key!r} as item {first}.",
                    "Remove one of the two.",
                )


@rule("X6", "managedBy names the KubeRay operator or MultiKueue", layer=Layer.API_SERVER)
def managed_by(job: Job) -> Iterator[Problem]:
    """The field also cannot be changed later."""
    for path, owner in (("spec", job.spec), ("spec.rayClusterSpec", job.cluster)):
        value = owner.get("managedBy")
        if isinstance(value, str) and value not in MANAGERS:
            yield Problem(f"{path}.managedBy", f"{value!r} is not allowed.", f"Use {listed(MANAGERS, 'or')}.")


@rule("X7", "deletionStrategy has deletionRules or the legacy fields, not both", layer=Layer.API_SERVER)
def strategy_mixed(job: Job) -> Iterator[Problem]:
    """An empty list of rules counts as set."""
    strategy = mapping(job.deletion_strategy)
    legacy = [name for name in ("onSuccess", "onFailure") if name in strategy]
    if legacy and "deletionRules" in strategy:
        yield Problem(
            STRATEGY,
            f"deletionRules and the legacy {' and '.join(legacy)} exclude each other.",
            "Write the legacy policies as deletion rules.",
        )


@rule("X8", "deletionStrategy has deletionRules, or both onSuccess and onFailure", layer=Layer.API_SERVER)
def strategy_incomplete(job: Job) -> Iterator[Problem]:
    """A strategy that says nothing, or half, is refused."""
    strategy = job.deletion_strategy
    if strategy is None or "deletionRules" in strategy:
        return
    if not ("onSuccess" in strategy and "onFailure" in strategy):
        yield Problem(
            STRATEGY,
            "deletionStrategy has neither deletionRules nor both of onSuccess and onFailure.",
            "Add deletion rules, or remove deletionStrategy.",
        )


@rule("X9", "deletionRules is not empty", layer=Layer.API_SERVER)
def no_rules(job: Job) -> Iterator[Problem]:
    """The CRD wants at least one item."""
    rules = mapping(job.deletion_strategy).get("deletionRules")
    if isinstance(rules, list) and not items(rules):
        yield Problem(f"{STRATEGY}.deletionRules", "deletionRules is empty.", "Add a rule, or remove the strategy.")


@rule("X10", "A deletion condition does not have both statuses", layer=Layer.API_SERVER, since=Version(1, 6))
def condition_both(job: Job) -> Iterator[Problem]:
    """Compare with J10, which the operator would report."""
    for entry in job.deletion_rules:
        if entry.job_status is not None and entry.deployment_status is not None:
            yield Problem(
                f"{entry.path}.condition",
                "jobStatus and jobDeploymentStatus are both set.",
                "Set one of them; use two rules for two statuses.",
            )


@rule("X11", "A deletion condition has a status", layer=Layer.API_SERVER, since=Version(1, 6))
def condition_none(job: Job) -> Iterator[Problem]:
    """Compare with J10, which the operator would report."""
    for entry in job.deletion_rules:
        if entry.job_status is None and entry.deployment_status is None:
            yield Problem(
                f"{entry.path}.condition",
                "Neither jobStatus nor jobDeploymentStatus is set.",
                "Set one of them.",
            )


@rule(
    "X12",
    "Every field exists in the CRD of this version",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
    note="The API server drops fields it does not know; kubectl refuses them, other clients warn at best.",
)
def unknown_fields(job: Job) -> Iterator[Problem]:
    """Look for fields that are mistyped, of another version, or of another object."""
    for path, shape, value in _nodes(job):
        if shape.kind != "object" or shape.partial or not _has_type(value, shape):
            continue
        known = {name: child for name, child in shape.fields.items() if child.known_in(job.version)}
        for name in value:
            if name not in known:
                yield Problem(
                    f"{path}.{name}",
                    f"KubeRay {job.version} has no field {name!r} here, and it is dropped.",
                    _field_remedy(str(name), shape, known),
                )


def _field_remedy(name: str, shape: Field, known: Mapping[str, Field]) -> str:
    if (newer := shape.fields.get(name)) is not None:
        return f"Install KubeRay {newer.since} or later, or remove the field."
    if name == "deletionPolicy":
        return "Use deletionStrategy, which replaced it in 1.5."
    if similar := nearest(name, known):
        return f"Did you mean {similar}?"
    return "Remove it."


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "A mapping"
        case list():
            return "A list"
        case str():
            return repr(value)
        case _:
            return str(value)
