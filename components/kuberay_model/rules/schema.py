"""Rules of the schema of the CRD: what the API server refuses, and fields it drops without a word.

All of them look at the same comparison with the schema, which is made once for a manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kuberay_model import schemas
from kuberay_model.rules.job import Job
from kuberay_model.rules.registry import Layer, Problem, Severity, rule
from kuberay_model.schemas import INTEGERS, LIST_KEYS, UNKNOWN_FIELD, Violation
from kuberay_model.sentences import listed, nearest

_ARTICLES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
}
_LONGEST_SHOWN = 60


def _violations(job: Job, *keywords: str) -> Iterator[Violation]:
    return (violation for violation in job.violations if violation.keyword in keywords)


@rule(
    "X0",
    "There is a schema to compare the fields with",
    layer=Layer.NOBODY,
    severity=Severity.WARNING,
    note="Schemas of some versions come with this package; those of others are made from the CRDs of the cluster.",
)
def no_schema(job: Job) -> Iterator[Problem]:
    """Say that X1 to X5, X9, X12, X13 and X16 find nothing because there is nothing to compare with."""
    if job.schema is None:
        known = listed(str(version) for version in schemas.known())
        yield Problem(
            "spec",
            f"There is no schema of a {job.kind} of KubeRay {job.version} here, only of {known}, so types and names "
            "of fields are not checked.",
            "Give the CRDs of the cluster with --crds FILE, --crds FOLDER or --crds cluster.",
        )


@rule("X1", "Every field has the type that the CRD gives it", layer=Layer.API_SERVER)
def types(job: Job) -> Iterator[Problem]:
    """Compare types; YAML reads an unquoted 1 as an integer and yes as true."""
    for found in _violations(job, "type"):
        names = [found.wanted] if isinstance(found.wanted, str) else found.wanted
        expected = listed((_ARTICLES[name] for name in names), "or")
        value = found.value
        if "string" in names and isinstance(value, bool | int | float):
            remedy = f'Quote it: "{_shown(value)}".'
        elif isinstance(value, str) and any(_reads_as(value, name) for name in names):
            remedy = f"Remove the quotes: {value}."
        else:
            remedy = f"Write {expected}."
        yield Problem(found.place, f"{_shown(value)} is given where {expected} is expected.", remedy)


@rule("X2", "Every field that the CRD requires is set", layer=Layer.API_SERVER)
def required(job: Job) -> Iterator[Problem]:
    """Look for missing fields below objects that are set."""
    for found in _violations(job, "required"):
        yield Problem(found.place, f"{found.path[-1]} is missing, and the CRD requires it.", "Add it.")


@rule("X3", "Every field has one of the values that the CRD allows", layer=Layer.API_SERVER)
def allowed_values(job: Job) -> Iterator[Problem]:
    """Compare with enums; letter case counts."""
    for found in _violations(job, "enum"):
        if isinstance(found.value, str):
            yield Problem(
                found.place,
                f"{found.value!r} is not allowed.",
                f"Use {listed((value or repr(value) for value in found.wanted), 'or')}.",
            )


@rule("X4", "Every number is within the limits of the CRD", layer=Layer.API_SERVER)
def ranges(job: Job) -> Iterator[Problem]:
    """Compare with minimum and maximum."""
    for found in _violations(job, "minimum", "maximum"):
        if found.keyword == "minimum":
            yield Problem(found.place, f"{found.value} is too small.", f"Use {found.wanted} or more.")
        else:
            yield Problem(found.place, f"{found.value} is too large.", f"Use {found.wanted} or less.")


@rule(
    "X16",
    "Every integer fits into the bits of its field",
    layer=Layer.NOBODY,
    note="The API server stores it, because it does not check the format int32, but the operator cannot decode it. "
    "Go's decoder refuses a whole list with such an object in it, so the operator may lose others of its kind as well.",
)
def bits(job: Job) -> Iterator[Problem]:
    """Compare with 32 or 64 bits."""
    for found in _violations(job, "format"):
        if found.wanted in INTEGERS:
            smallest, largest = INTEGERS[found.wanted]
            limit = f"at most {largest}" if found.value > 0 else f"at least {smallest}"
            size = found.wanted.removeprefix("int")
            yield Problem(found.place, f"{found.value} does not fit into {size} bits.", f"Use {limit}.")


@rule("X5", "Items of a list with keys are different", layer=Layer.API_SERVER)
def duplicates(job: Job) -> Iterator[Problem]:
    """Containers are told apart by their name, ports by port and protocol; lists of other kinds may repeat."""
    for found in _violations(job, LIST_KEYS, "uniqueItems"):
        keys = found.wanted if isinstance(found.wanted, list) else []
        entry = found.value
        values = [f"{key} {_shown(entry[key])}" for key in keys if key in entry] or [_shown(entry)]
        yield Problem(found.place, f"{listed(values)} is given before in this list.", "Remove one of the two.")


@rule("X9", "A list has as many items as the CRD asks for", layer=Layer.API_SERVER)
def too_few_items(job: Job) -> Iterator[Problem]:
    """The rules of a deletionStrategy are such a list."""
    for found in _violations(job, "minItems"):
        name = found.path[-1]
        seen = f"{len(found.value)} items" if found.value else "no item"
        yield Problem(found.place, f"{name} has {seen}.", f"Give it {found.wanted} or more, or remove {name}.")


@rule(
    "X12",
    "Every field exists in the CRD of this version",
    layer=Layer.NOBODY,
    note="The API server drops fields it does not know; kubectl refuses them, other clients warn at best.",
)
def unknown_fields(job: Job) -> Iterator[Problem]:
    """Look for fields that are mistyped, of another version, or of another object."""
    for found in _violations(job, UNKNOWN_FIELD):
        *parents, name = found.path
        assert job.schema is not None
        node = job.schema.node(job.kind, parents) or {}
        yield Problem(
            found.place,
            f"{job.schema.source} has no field {str(name)!r} here, and the API server drops it without a word.",
            _field_remedy(job, parents, str(name), node.get("properties", {})),
        )


def _field_remedy(job: Job, parents: Iterable[str | int], name: str, known: Mapping[str, Any]) -> str:
    for version in schemas.known():
        if version > job.version and schemas.load(version).node(job.kind, [*parents, name]) is not None:
            return f"Install KubeRay {version} or later, or remove the field."
    if name == "deletionPolicy":
        return "Use deletionStrategy, which replaced it in 1.5."
    if similar := nearest(name, known):
        return f"Did you mean {similar}?"
    return "Remove it."


@rule("X13", "Every text has the form that the CRD asks for", layer=Layer.API_SERVER)
def forms(job: Job) -> Iterator[Problem]:
    """Amounts of resources and names in labels have a pattern, some texts and lists a length."""
    for found in _violations(job, "pattern", "minLength", "maxLength", "maxItems", "format"):
        if found.wanted in INTEGERS:
            continue
        length, limit = len(found.value), found.wanted
        match found.keyword:
            case "format":
                yield Problem(
                    found.place, f"{_shown(found.value)} is no time.", "Write a time such as 2026-01-31T12:00:00Z."
                )
            case "pattern":
                remedy = f"Write it so that it matches {limit}"
                if "KMGTPE" in str(limit):
                    remedy = "Write an amount such as 500m, 2 or 4Gi"
                yield Problem(found.place, f"{_shown(found.value)} has not the form that is expected.", f"{remedy}.")
            case "minLength":
                yield Problem(found.place, f"The text has {length} characters.", f"Write {limit} or more.")
            case "maxLength":
                yield Problem(found.place, f"The text has {length} characters.", f"Write {limit} or fewer.")
            case _:
                yield Problem(found.place, f"The list has {length} items.", f"Keep {limit} or fewer.")


def _reads_as(value: str, kind: str) -> bool:
    return (kind == "boolean" and value in ("true", "false")) or (
        kind in ("integer", "number") and value.lstrip("-").isdecimal()
    )


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "A mapping"
        case list():
            return "A list"
        case str():
            return repr(value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}…")
        case _:
            return str(value)
