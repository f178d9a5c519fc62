"""The scenarios there are."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kuberay_e2e.crash.scenario import (
    Act,
    Action,
    Expected,
    Scenario,
    cluster_gone,
    ended,
    ever,
    rayjob_gone,
    state,
)
from kuberay_e2e.errors import InputError
from kuberay_e2e.ray import Script

_LONG = Script(duration=600.0)
_SHORT = Script(duration=0.5)
_FAILS = Script(duration=0.5, end="FAILED")

SCENARIOS: tuple[Scenario, ...] = (
    Scenario("k8sjob", "Runs to completion, submitted by a Job (K8sJobMode).", ended),
    Scenario(
        "http", "Runs to completion, submitted by the operator (HTTPMode).", ended, {"submissionMode": "HTTPMode"}
    ),
    Scenario(
        "ttl",
        "Shuts its RayCluster down 2 s after the end.",
        cluster_gone,
        {"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 2},
        ttl_seconds=2,
    ),
    Scenario(
        "app-fails",
        "The application fails and is not retried (backoffLimit 0).",
        ended,
        {"submissionMode": "HTTPMode"},
        (_FAILS,),
        expected=Expected("FAILED", "Failed", "AppFailed", succeeded=0, failed=1),
    ),
    Scenario(
        "app-retried",
        "The application fails twice and succeeds at the third attempt (backoffLimit 2).",
        ended,
        {"submissionMode": "HTTPMode", "backoffLimit": 2},
        (_FAILS, _FAILS, _SHORT),
        expected=Expected(attempts=3, starts=3, succeeded=1, failed=2),
    ),
    Scenario(
        "suspend-resume",
        "Is suspended while it runs, and resumed.",
        ended,
        {"submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 60},
        (_LONG, _SHORT),
        (
            Action(Act.SUSPEND, ever(jobStatus="RUNNING")),
            Action(Act.RESUME, state(jobDeploymentStatus="Suspended")),
        ),
        expected=Expected(attempts=2, starts=2, stopped=False),
    ),
    Scenario(
        "delete-running",
        "Is deleted while its job runs.",
        rayjob_gone,
        {"submissionMode": "HTTPMode"},
        (_LONG,),
        (Action(Act.DELETE, ever(jobStatus="RUNNING")),),
        expected=Expected("RUNNING", "Running", succeeded=0, stopped=True),
    ),
)
"""Every scenario, in the order of the plan."""

BY_NAME: Mapping[str, Scenario] = MappingProxyType({scenario.name: scenario for scenario in SCENARIOS})


def select(names: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios of these names; without one, all.

    Raises:
        InputError: There is none of a name.
    """
    for name in names:
        if name not in BY_NAME:
            raise InputError(f"There is no scenario called {name!r}; the scenarios are {', '.join(BY_NAME)}.")
    return tuple(BY_NAME[name] for name in names) if names else SCENARIOS
