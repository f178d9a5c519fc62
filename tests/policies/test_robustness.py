"""No value of a wrong type, anywhere in an object, ends the check: each policy judges, or stays silent."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kuberay_policies.evaluation import evaluate
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Subject, keys
from tests.model.rayjobs import Manifest

from .objects import (
    binding,
    cluster,
    cluster_queue,
    crd,
    cron_job,
    flavor,
    local_queue,
    operator,
    queued,
    role,
    service,
)
from .test_deferral import paths

JUNK: list[Any] = [None, 0, -1.5, True, "", "x", [], [1], [[]], [{}], {}, {"a": 1}, {"name": []}]


def replaced(manifest: Manifest, path: str, value: Any) -> Manifest:
    changed = copy.deepcopy(manifest)
    parent: Any = changed
    *before, last = keys(path)
    for key in before:
        parent = parent[int(key)] if isinstance(parent, list) else parent[key]
    parent[int(last) if isinstance(parent, list) else last] = value
    return changed


OBJECTS = [
    queued(),
    cluster(),
    service(),
    cron_job(),
    operator(),
    local_queue(),
    cluster_queue(),
    flavor(),
    role(("ray.io", "rayjobs", "update")),
    binding("kuberay-operator"),
    crd(),
]


@pytest.mark.parametrize("position", range(len(OBJECTS)), ids=lambda position: str(OBJECTS[position]["kind"]))
def test_junk_anywhere_is_judged_or_passed_over(position: int) -> None:
    manifest = OBJECTS[position]
    others = [Subject(other) for index, other in enumerate(OBJECTS) if index != position]
    places = [path for path in paths(manifest) if path not in ("apiVersion", "kind", "metadata")]
    changed = [Subject(replaced(manifest, path, JUNK[n % len(JUNK)])) for n, path in enumerate(places * 3)]
    report = evaluate([*changed, *others], Settings())
    assert len(report.subjects) == len(changed) + len(others)
    assert report.deferred == ()
