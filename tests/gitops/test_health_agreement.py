"""Lua and CEL are two writings of one table: they agree on every object, also where the table has many rules."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kuberay_e2e.gitops.health import documents
from kuberay_e2e.gitops.health.checks import checks
from kuberay_e2e.gitops.health.grade import Grade
from kuberay_e2e.gitops.health.predicates import AllOf, AnyOf, ConditionIs, Equals, Not, SomeEntry, Test
from tests.gitops.evaluators import argocd, flux

SCRIPTS = {name.rpartition("_")[2]: text for name, text in documents.argocd()["data"].items()}
ENTRIES = {entry["kind"]: entry for entry in documents.flux()}
PAIRS = {(grade.argocd, grade.flux) for grade in Grade}
CONDITION_KINDS = [check for check in checks() if check.kind != "RayJob"]


def leaves(test: Test) -> Iterator[Equals | ConditionIs | SomeEntry]:
    match test:
        case AllOf(tests) | AnyOf(tests):
            for part in tests:
                yield from leaves(part)
        case Not(inner):
            yield from leaves(inner)
        case _:
            yield test


def conditions_of(tests: list[Equals | ConditionIs | SomeEntry]) -> list[list[dict[str, str] | None]]:
    """For each type of condition that is asked for, every way in which it can be there or not."""
    ways: dict[str, list[dict[str, str] | None]] = {}
    for test in tests:
        if isinstance(test, ConditionIs):
            found = ways.setdefault(test.type, [None])
            for status, reason in itertools.product(("True", "False", "Unknown"), (*sorted(test.reasons), "Other")):
                entry = {"type": test.type, "status": status, "reason": reason, "message": "told"}
                if entry not in found:
                    found.append(entry)
    return [[way for way in found if way is None or way["status"] != "Unknown"] for found in ways.values()]


def fields_of(tests: list[Equals | ConditionIs | SomeEntry]) -> list[list[tuple[tuple[str, ...], Any]]]:
    """For each other field that is asked for, values that it can have."""
    ways: dict[tuple[str, ...], set[Any]] = {}
    for test in tests:
        if isinstance(test, Equals):
            ways.setdefault(test.path, set()).update({None, *test.values})
        elif isinstance(test, SomeEntry):
            ways.setdefault((*test.path, "app", test.field), set()).update({None, "RUNNING", *test.values})
    return [[(path, value) for value in sorted(values, key=str)] for path, values in ways.items()]


def put(item: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for name in parents:
        item = item.setdefault(name, {})
    item[last] = value


def items(rules: list[Test]) -> Iterator[dict[str, Any]]:
    tests = [leaf for rule in rules for leaf in leaves(rule)]
    for chosen in itertools.product(*conditions_of(tests)):
        for fields in itertools.product(*fields_of(tests)):
            item: dict[str, Any] = {"metadata": {"name": "it"}, "spec": {}, "status": {}}
            if told := [condition for condition in chosen if condition]:
                item["status"]["conditions"] = told
            for path, value in fields:
                if value is not None:
                    put(item, path, value)
            yield item


@pytest.mark.parametrize("check", CONDITION_KINDS, ids=lambda check: str(check.kind))
def test_they_agree(check: Any) -> None:
    every = list(items([rule.test for rule in check.rules]))
    step = max(1, len(every) // 400)
    seen = set()
    for item in every[::step]:
        pair = (argocd(SCRIPTS[check.kind], item).status, flux(ENTRIES[check.kind], item))
        assert pair in PAIRS, item
        seen.add(pair)
    grades = {check.otherwise, *(rule.grade for rule in check.rules)}
    assert seen == {(grade.argocd, grade.flux) for grade in grades}


def service(ready: tuple[str, str], **status: Any) -> Mapping[str, Any]:
    condition = {"type": "Ready", "status": ready[0], "reason": ready[1], "message": "told"}
    return {"metadata": {"name": "serve"}, "spec": {}, "status": {"conditions": [condition], **status}}


SERVING = ("True", "NonZeroServeEndpoints")
BROKEN = {"applicationStatuses": {"app": {"status": "DEPLOY_FAILED"}}}


@pytest.mark.parametrize(
    ("item", "status", "said"),
    [
        (service(SERVING), "Healthy", "The RayService serves."),
        (
            service(("False", "ZeroServeEndpoints")),
            "Degraded",
            "The RayService serves no longer with reason ZeroServeEndpoints: told.",
        ),
        (
            service(("False", "InitializingTimeout")),
            "Degraded",
            "The RayService failed with reason InitializingTimeout: told.",
        ),
        (
            service(SERVING, pendingServiceStatus=BROKEN),
            "Degraded",
            "The RayService has an application that does not deploy or is unhealthy.",
        ),
    ],
)
def test_a_ray_service_says_what_is_the_matter(item: Mapping[str, Any], status: str, said: str) -> None:
    health = argocd(SCRIPTS["RayService"], item)
    assert (health.status, health.message) == (status, said)


def test_flux_takes_a_generation_that_was_not_observed_for_one_in_progress() -> None:
    item = {"metadata": {"generation": 3}, "spec": {}, "status": {"state": "ready", "observedGeneration": 2}}
    assert argocd(SCRIPTS["RayCluster"], item).status == "Healthy"
    assert flux(ENTRIES["RayCluster"], item) == "InProgress"
