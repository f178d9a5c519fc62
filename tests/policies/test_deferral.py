"""Values that are known only at deployment defer exactly the policies that need them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import Report, evaluate
from kuberay_policies.guarding import NotYetKnown, guarded
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import UNKNOWN, Subject, joined, keys
from tests.model.rayjobs import Manifest, put, spec, without

from .objects import (
    CLUSTER,
    HEAD,
    HEAD_CONTAINER,
    HEAD_POD,
    WORKER,
    WORKER_CONTAINER,
    cluster_queue,
    flavor,
    job,
    local_queue,
    queued,
)


def checked(*manifests: Manifest) -> Report:
    return evaluate([Subject(manifest) for manifest in manifests], Settings())


def waiting(report: Report) -> dict[str, set[str]]:
    return {deferred.path: {policy.id for policy in deferred.policies} for deferred in report.deferred}


def broken(report: Report) -> set[str]:
    return {finding.policy.id for finding in report.findings}


def test_an_unknown_image_defers_policies_on_that_image_only() -> None:
    report = checked(job(put(f"{HEAD_CONTAINER}.image", UNKNOWN), put(f"{WORKER_CONTAINER}.image", "ray:latest")))
    path = "spec.rayClusterSpec.headGroupSpec.template.spec.containers[0].image"
    assert set(waiting(report)) == {path}
    assert {"P320", "P321", "P322", "X1"} <= waiting(report)[path]
    assert "P101" not in waiting(report)[path] and "P312" not in waiting(report)[path]
    assert broken(report) == {"P320"}, "the worker's image is judged all the same"


def test_an_unknown_cleanup_is_neither_kept_nor_broken() -> None:
    report = checked(job(spec(shutdownAfterJobFinishes=UNKNOWN)))
    assert {"P101", "J5"} <= waiting(report)["spec.shutdownAfterJobFinishes"]
    assert broken(report) == set()


@pytest.mark.parametrize(
    "path",
    [
        CLUSTER,
        HEAD,
        f"{HEAD}.template",
        HEAD_POD,
        f"{HEAD_POD}.containers",
        HEAD_CONTAINER,
        f"{CLUSTER}.workerGroupSpecs",
    ],
)
def test_an_unknown_part_defers_what_would_look_into_it(path: str) -> None:
    report = checked(job(put(path, UNKNOWN)))
    ids = set().union(*waiting(report).values())
    assert {"P312", "P320", "P330", "P401"} <= ids
    assert broken(report) == set()


def test_an_unknown_spec_defers_everything_about_it() -> None:
    report = checked(job(put("spec", UNKNOWN)))
    assert {"P101", "P302", "P312", "P401", "J21"} <= set().union(*waiting(report).values())
    assert broken(report) == set()


def test_an_unknown_name_defers_names_and_what_refers_to_it() -> None:
    report = checked(queued(put("metadata.name", UNKNOWN)))
    assert {"J1", "J2", "P504"} <= waiting(report)["metadata.name"]
    report = checked(queued(), local_queue(), flavor(), cluster_queue(put("metadata.name", UNKNOWN)))
    assert {"P209", "P212"} <= waiting(report)["metadata.name"]
    assert broken(report) == set()


def test_everything_else_is_found_beside_an_unknown_value() -> None:
    bad = [without("spec.activeDeadlineSeconds"), spec(submissionMode="HttpMode"), put(f"{WORKER}.minReplicas", 5)]
    known = broken(checked(job(*bad)))
    assert {"P110", "U1", "C5"} <= known
    assert broken(checked(job(*bad, put(f"{HEAD_CONTAINER}.image", UNKNOWN)))) == known


def paths(value: Any, path: str = "") -> list[str]:
    found = [path] if path else []
    if isinstance(value, Mapping):
        return found + [place for key, inner in value.items() for place in paths(inner, joined(path, key))]
    if isinstance(value, list):
        return found + [place for index, inner in enumerate(value) for place in paths(inner, f"{path}[{index}]")]
    return found


def hidden(manifest: Manifest, path: str) -> Manifest:
    changed = copy.deepcopy(manifest)
    parent: Any = changed
    *before, last = keys(path)
    for key in before:
        parent = parent[int(key)] if isinstance(parent, list) else parent[key]
    parent[int(last) if isinstance(parent, list) else last] = UNKNOWN
    return changed


EXEMPLARY = queued()


@pytest.mark.parametrize("path", [place for place in paths(EXEMPLARY) if place not in ("apiVersion", "kind")])
def test_no_single_unknown_value_makes_a_good_rayjob_bad(path: str) -> None:
    report = evaluate([Subject(hidden(EXEMPLARY, path))], Settings())
    assert broken(report) == set()
    assert path in waiting(report), "nothing unknown passes unseen"
    assert all(deferred.path == path for deferred in report.deferred)


def test_reading_an_unknown_value_of_a_guarded_manifest_raises() -> None:
    subject = guarded(Subject({"a": {"b": [1, UNKNOWN]}, "c": {"d": 1}}))
    manifest = subject.manifest
    assert manifest["c"] == {"d": 1} and type(manifest["c"]) is dict
    assert manifest["a"]["b"][0] == 1 and len(manifest["a"]["b"]) == 2
    for read in (
        lambda: manifest["a"]["b"][1],
        lambda: list(manifest["a"]["b"]),
        lambda: 2 in manifest["a"]["b"],
        lambda: manifest["a"]["b"] == [1, 2],
        lambda: manifest["a"]["b"][0:],
        lambda: [*manifest["a"]["b"]],
    ):
        with pytest.raises(NotYetKnown) as raised:
            read()
        assert raised.value.path == "a.b[1]"
    inner = guarded(Subject({"a": UNKNOWN})).manifest
    for touch in (
        lambda: inner["a"],
        lambda: inner.get("a"),
        lambda: "a" in inner,
        lambda: dict(inner),
        lambda: {**inner},
        lambda: list(inner.values()),
        lambda: list(inner.items()),
        lambda: inner == {"a": 1},
    ):
        with pytest.raises(NotYetKnown):
            touch()
    assert list(inner) == ["a"] and "b" not in inner and inner.get("b", 3) == 3


def test_a_policy_is_deferred_once_for_each_value() -> None:
    report = checked(job(put(f"{HEAD_CONTAINER}.image", UNKNOWN)))
    for deferred in report.deferred:
        ids = [policy.id for policy in deferred.policies]
        assert len(ids) == len(set(ids)) and set(ids) <= set(POLICIES)
