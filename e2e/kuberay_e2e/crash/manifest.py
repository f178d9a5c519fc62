"""The objects of a scenario as they are created."""

import copy
from collections.abc import Mapping
from typing import Any

from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.crash.slot import NAME

IMAGE = "rayproject/ray:2.52.0"
WORKERS: Mapping[str, Any] = {"groupName": "workers", "replicas": 1, "minReplicas": 1, "maxReplicas": 1}
"""A group of one worker, to which a template belongs."""


def template() -> dict[str, Any]:
    """The pod template of heads and workers."""
    return {"spec": {"containers": [{"name": "ray", "image": IMAGE}]}}


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping laid over another, mappings within it as well; what is None is taken away.

    Args:
        below: The lower mapping, which is not changed.
        above: The upper one.
    """
    found = copy.deepcopy(dict(below))
    for field, value in above.items():
        under = found.get(field)
        if value is None:
            found.pop(field, None)
        elif isinstance(value, Mapping):
            found[field] = merged(under if isinstance(under, Mapping) else {}, value)
        else:
            found[field] = copy.deepcopy(value)
    return found


NO_NODE: Mapping[str, Any] = {
    **WORKERS,
    "rayStartParams": {},
    "template": merged(template(), {"spec": {"nodeSelector": {"kuberay-e2e/node": "none"}}}),
}
"""A group of one worker that no node takes."""


def rayjob(scenario: Scenario, namespace: str) -> dict[str, Any]:
    """The RayJob of a scenario: its user's, or a small one with a head and a worker and what the scenario changes.

    Args:
        scenario: The scenario.
        namespace: Where it is created.
    """
    small = {"entrypoint": "python main.py", "rayClusterSpec": _cluster_spec()}
    spec = scenario.manifest["spec"] if scenario.manifest else merged(small, scenario.spec)
    known = scenario.manifest["metadata"] if scenario.manifest else {}
    kept = {field: dict(known[field]) for field in ("labels", "annotations") if known.get(field)}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {**kept, "name": NAME, "namespace": namespace},
        "spec": copy.deepcopy(dict(spec)),
    }


def raycluster(name: str) -> dict[str, Any]:
    """A small RayCluster that a user makes.

    Args:
        name: Its name.
    """
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": _cluster_spec()}


def change(field: str, value: Any) -> Mapping[str, Any]:
    """A merge patch of one field of the spec."""
    return {"spec": {field: value}}


def _cluster_spec() -> dict[str, Any]:
    return {
        "rayVersion": "2.52.0",
        "headGroupSpec": {"rayStartParams": {}, "template": template()},
        "workerGroupSpecs": [{**WORKERS, "rayStartParams": {}, "template": template()}],
    }
