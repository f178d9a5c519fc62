"""Tests of an object's fields, from which the checks are put together and written as Lua and as CEL."""

from __future__ import annotations

from dataclasses import dataclass

CONDITIONS = ("status", "conditions")

Path = tuple[str, ...]


@dataclass(frozen=True)
class Equals:
    """A field has one of some values.

    Attributes:
        path: The field. It begins with metadata, spec or status.
        values: The values. An empty string among them stands for a missing field too.
    """

    path: Path
    values: frozenset[str | bool]


@dataclass(frozen=True)
class ConditionIs:
    """A condition has a status, and one of some reasons.

    Attributes:
        type: Type of the condition. An object without it does not pass.
        status: True, False or Unknown.
        reasons: Reasons that pass; default: all.
        path: Where the conditions are.
    """

    type: str
    status: str = "True"
    reasons: frozenset[str] = frozenset()
    path: Path = CONDITIONS


@dataclass(frozen=True)
class SomeEntry:
    """An entry of a map of objects has a field with one of some values.

    Attributes:
        path: The map.
        field: The field of its entries.
        values: The values.
    """

    path: Path
    field: str
    values: frozenset[str]


@dataclass(frozen=True)
class AllOf:
    """All of some tests pass."""

    tests: tuple[Test, ...]


@dataclass(frozen=True)
class AnyOf:
    """One of some tests passes."""

    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Not:
    """A test does not pass."""

    test: Test


Test = Equals | ConditionIs | SomeEntry | AllOf | AnyOf | Not


def all_of(*tests: Test) -> Test:
    """All of the tests; nested ones are made one."""
    parts = [part for test in tests for part in (test.tests if isinstance(test, AllOf) else (test,))]
    unique = tuple(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else AllOf(unique)


def any_of(*tests: Test) -> Test:
    """One of the tests, in as few words as can be.

    Tests that differ in the values of one field only are put together, and a test that is a special case of another
    is left out.
    """
    left = [part for test in tests for part in (test.tests if isinstance(test, AnyOf) else (test,))]
    kept: list[Test] = []
    for part in left:
        for position, other in enumerate(kept):
            if (merged := _merged(part, other)) is not None:
                kept[position] = merged
                break
        else:
            kept.append(part)
    return kept[0] if len(kept) == 1 else AnyOf(tuple(kept))


def negated(test: Test) -> Test:
    """The opposite of a test."""
    return test.test if isinstance(test, Not) else Not(test)


def _merged(one: Test, other: Test) -> Test | None:
    """One test that passes where one of two does, or None where that takes an `AnyOf`."""
    ones, others = set(_conjuncts(one)), set(_conjuncts(other))
    if ones >= others:
        return other
    if others >= ones:
        return one
    mine, theirs = ones - others, others - ones
    if len(mine) != 1 or len(theirs) != 1:
        return None
    [left], [right] = mine, theirs
    if not (isinstance(left, Equals) and isinstance(right, Equals) and left.path == right.path):
        return None
    union = Equals(left.path, left.values | right.values)
    return all_of(*(union if test == right else test for test in _conjuncts(other)))


def disjoint(one: Test, other: Test) -> bool:
    """Whether two tests can be seen never to pass together."""
    if isinstance(one, AnyOf):
        return all(disjoint(part, other) for part in one.tests)
    if isinstance(other, AnyOf):
        return disjoint(other, one)
    return any(_exclude(left, right) for left in _conjuncts(one) for right in _conjuncts(other))


def _conjuncts(test: Test) -> tuple[Test, ...]:
    return test.tests if isinstance(test, AllOf) else (test,)


def _exclude(one: Test, other: Test) -> bool:
    if isinstance(one, Not):
        return one.test == other or (
            isinstance(one.test, Equals)
            and isinstance(other, Equals)
            and one.test.path == other.path
            and other.values <= one.test.values
        )
    if isinstance(other, Not):
        return _exclude(other, one)
    if isinstance(one, Equals) and isinstance(other, Equals):
        return one.path == other.path and not one.values & other.values
    if (
        isinstance(one, ConditionIs)
        and isinstance(other, ConditionIs)
        and (one.type, one.path) == (other.type, other.path)
    ):
        reasons = one.reasons and other.reasons and not one.reasons & other.reasons
        return one.status != other.status or bool(reasons)
    return False
