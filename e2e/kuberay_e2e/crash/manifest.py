"""The RayJob of a scenario."""

import copy
from collections.abc import Mapping
from typing import Any

from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.crash.slot import NAME

IMAGE = "rayproject/ray:2.52.0"


def rayjob(scenario: Scenario, namespace: str) -> dict[str, Any]:
    """A RayJob with a head and one worker, and what the scenario changes of it.

    Args:
        scenario: The scenario.
        namespace: Where it is created.
    """
    template = {"spec": {"containers": [{"name": "ray", "image": IMAGE}]}}
    group = {"groupName": "workers", "replicas": 1, "minReplicas": 1, "maxReplicas": 1}
    spec: dict[str, Any] = {
        "entrypoint": "python main.py",
        "rayClusterSpec": {
            "rayVersion": "2.52.0",
            "headGroupSpec": {"rayStartParams": {}, "template": template},
            "workerGroupSpecs": [{**group, "rayStartParams": {}, "template": copy.deepcopy(template)}],
        },
        **copy.deepcopy(dict(scenario.spec)),
    }
    absent = [field for field, value in spec.items() if value is None]
    for field in absent:
        del spec[field]
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": spec,
    }


def change(field: str, value: Any) -> Mapping[str, Any]:
    """A merge patch of one field of the spec."""
    return {"spec": {field: value}}
