"""Checks as CEL, for `spec.healthCheckExprs` of Flux's Kustomization.

Flux asks in this order: a generation that `status.observedGeneration` does not name yet is in progress; then
`inProgress`, `failed` and `current`; where none is true it is in progress. It evaluates without declarations, so that
an object without a status makes the expressions fail, which Flux takes for a status that is still unknown, and waits.
"""

from dataclasses import dataclass

from kuberay_e2e.gitops.health.predicates import (
    AllOf,
    AnyOf,
    ConditionIs,
    Equals,
    Not,
    Path,
    SomeEntry,
    Test,
    all_of,
    any_of,
    disjoint,
    negated,
)
from kuberay_e2e.gitops.health.rules import Check

_DELETED = "has(metadata.deletionTimestamp)"


@dataclass(frozen=True)
class Expressions:
    """The three expressions of a kind.

    Attributes:
        in_progress: True while it is on its way or is being deleted.
        failed: True once it has failed for good; empty if it never does.
        current: True once a sync has nothing to wait for.
    """

    in_progress: str
    failed: str
    current: str


def expressions(check: Check) -> Expressions:
    """The expressions of a check."""
    written = {status: _written(check, status) for status in ("InProgress", "Failed", "Current")}
    in_progress = "\n|| ".join(part for part in (_DELETED, written["InProgress"]) if part)
    return Expressions(in_progress, written["Failed"], written["Current"])


def _written(check: Check, status: str) -> str:
    """When the first rule that passes is one of a status."""
    found = []
    for position, rule in enumerate(check.rules):
        if rule.grade.flux == status:
            before = [
                negated(other.test)
                for other in check.rules[:position]
                if other.grade.flux != status and not disjoint(other.test, rule.test)
            ]
            found.append(all_of(rule.test, *before))
    if not found:
        return ""
    test = any_of(*found)
    parts = test.tests if isinstance(test, AnyOf) else (test,)
    return "\n|| ".join(_grouped_in_any(part) if len(parts) > 1 else _test(part) for part in parts)


def _test(test: Test) -> str:
    match test:
        case Equals(path, values):
            return _equals(path, values)
        case ConditionIs(name, status, reasons, path):
            asked = [f"c.type == {_string(name)}", f"c.status == {_string(status)}"]
            if reasons:
                asked.append(_among("c.reason", reasons))
            return _present(path, f"{'.'.join(path)}.exists(c, {' && '.join(asked)})")
        case SomeEntry(path, field, values):
            entries = ".".join(path)
            entry = f"{entries}[name].{field}"
            return _present(path, f"{entries}.exists(name, has({entry}) && {_among(entry, values)})")
        case AllOf(tests):
            return " && ".join(_grouped(part) for part in tests)
        case AnyOf(tests):
            return " || ".join(_grouped_in_any(part) for part in tests)
        case Not(inner):
            return f"!({_test(inner)})"


def _grouped_in_any(test: Test) -> str:
    written = _test(test)
    return f"({written})" if " && " in written else written


def _grouped(test: Test) -> str:
    written = _test(test)
    return f"({written})" if isinstance(test, AnyOf) or (isinstance(test, Equals) and "" in test.values) else written


def _equals(path: Path, values: frozenset[str | bool]) -> str:
    field = ".".join(path)
    if "" not in values:
        return _present(path, _among(field, values))
    rest = values - {""}
    missing = f"!({_has(path)})" if len(path) > 2 else f"!{_has(path)}"
    return f"{missing} || {_among(field, values)}" if rest else f"{missing} || {field} == ''"


def _among(field: str, values: frozenset[str] | frozenset[str | bool]) -> str:
    written = [str(value).lower() if isinstance(value, bool) else _string(value) for value in sorted(values, key=str)]
    return f"{field} == {written[0]}" if len(written) == 1 else f"{field} in [{', '.join(written)}]"


def _present(path: Path, then: str) -> str:
    return f"{_has(path)} && {then}"


def _has(path: Path) -> str:
    return " && ".join(f"has({'.'.join(path[: length + 1])})" for length in range(1, len(path)))


def _string(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
