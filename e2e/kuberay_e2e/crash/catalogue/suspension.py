"""Suspension by the user, of a RayJob that runs and of one that has not begun."""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.crash.scenario import Act, Action, Expected, Scenario, ended, ever, state
from kuberay_e2e.ray import Script

_SHUT_DOWN: Mapping[str, Any] = {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 60}
_HTTP: Mapping[str, Any] = {**_SHUT_DOWN, "submissionMode": "HTTPMode"}
_TWICE = (Script(duration=600.0), Script(duration=0.5))
_RESUME = Action(Act.RESUME, state(jobDeploymentStatus="Suspended"), after=1.0)
_SUSPEND_AND_RESUME = (Action(Act.SUSPEND, ever(jobStatus="RUNNING")), _RESUME)

SCENARIOS = (
    Scenario(
        "suspend-resume",
        "Is suspended while it runs, and resumed.",
        ended,
        _HTTP,
        _TWICE,
        _SUSPEND_AND_RESUME,
        Expected(attempts=2, starts=2),
    ),
    Scenario(
        "suspend-resume-k8sjob",
        "Is suspended while it runs, and resumed (K8sJobMode).",
        ended,
        _SHUT_DOWN,
        _TWICE,
        _SUSPEND_AND_RESUME,
        Expected(attempts=2, starts=2),
    ),
    Scenario(
        "created-suspended",
        "Is created suspended, and resumed.",
        ended,
        {**_HTTP, "suspend": True},
        actions=(_RESUME,),
        expected=Expected(attempts=2, clusters=1),
    ),
)
