"""Deletion by the user, before the job runs, while it runs and after its end."""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.crash.manifest import NO_NODE
from kuberay_e2e.crash.scenario import Act, Action, Expected, Scenario, ended, ever, head_runs, rayjob_gone
from kuberay_e2e.ray import Script

_HTTP: Mapping[str, Any] = {"submissionMode": "HTTPMode"}

SCENARIOS = (
    Scenario(
        "delete-initializing",
        "Is deleted while it waits for a worker that no node takes.",
        rayjob_gone,
        {**_HTTP, "rayClusterSpec": {"workerGroupSpecs": [NO_NODE]}},
        actions=(Action(Act.DELETE, head_runs, after=4.0),),
        expected=Expected("", "Initializing", starts=0, succeeded=0),
    ),
    Scenario(
        "delete-running",
        "Is deleted while its job runs.",
        rayjob_gone,
        _HTTP,
        (Script(duration=600.0),),
        (Action(Act.DELETE, ever(jobStatus="RUNNING")),),
        Expected("RUNNING", "Running", succeeded=0, stopped=True),
    ),
    Scenario(
        "delete-complete",
        "Is deleted after its end, before its RayCluster is shut down.",
        rayjob_gone,
        {**_HTTP, "shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 60},
        actions=(Action(Act.DELETE, ended, after=1.0),),
    ),
)
