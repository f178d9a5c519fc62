"""Failures of the application, of the submitter and of deadlines, and the attempts after them."""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.crash.manifest import NO_NODE
from kuberay_e2e.crash.scenario import Expected, Scenario, cluster_gone, ended
from kuberay_e2e.ray import Script

_HTTP: Mapping[str, Any] = {"submissionMode": "HTTPMode"}
_SHORT = Script(duration=0.5)
_FAILS = Script(duration=0.5, end="FAILED")
_SUBMITTER_FAILS = Script(duration=0.5, failed_submitters=1)
_FAILED = Expected("FAILED", "Failed", "AppFailed", succeeded=0, failed=1)
_THIRD = Expected(attempts=3, starts=3, failed=2)

SCENARIOS = (
    Scenario(
        "app-fails",
        "The application fails and is not retried (backoffLimit 0).",
        ended,
        _HTTP,
        (_FAILS,),
        expected=_FAILED,
    ),
    Scenario(
        "app-fails-k8sjob",
        "The application fails and is not retried (K8sJobMode, backoffLimit 0).",
        ended,
        script=(_FAILS,),
        expected=_FAILED,
    ),
    Scenario(
        "app-retried",
        "The application fails twice and succeeds at the third attempt (backoffLimit 2).",
        ended,
        {**_HTTP, "backoffLimit": 2},
        (_FAILS, _FAILS, _SHORT),
        expected=_THIRD,
        patience=150.0,
    ),
    Scenario(
        "app-retried-k8sjob",
        "The application fails twice and succeeds at the third attempt (K8sJobMode, backoffLimit 2).",
        ended,
        {"backoffLimit": 2},
        (_FAILS, _FAILS, _SHORT),
        expected=_THIRD,
        patience=150.0,
    ),
    Scenario(
        "submitter-fails",
        "The submitter fails before it submits and is not retried (its backoffLimit 0).",
        ended,
        {"submitterConfig": {"backoffLimit": 0}},
        script=(_SUBMITTER_FAILS,),
        expected=Expected("", "Failed", "SubmissionFailed", starts=0, succeeded=0, failed=1),
    ),
    Scenario(
        "submitter-retried",
        "The first pod of the submitter fails before it submits, the second submits (its backoffLimit 2).",
        ended,
        script=(_SUBMITTER_FAILS,),
    ),
    Scenario(
        "submission-retried",
        "The submitter fails and the RayJob is tried again (backoffLimit 1).",
        ended,
        {"backoffLimit": 1, "submitterConfig": {"backoffLimit": 0}},
        script=(_SUBMITTER_FAILS,),
        expected=Expected(attempts=2, failed=1),
    ),
    Scenario(
        "deadline",
        "Runs longer than activeDeadlineSeconds, fails and shuts its RayCluster down.",
        cluster_gone,
        {**_HTTP, "activeDeadlineSeconds": 20, "shutdownAfterJobFinishes": True},
        (Script(duration=600.0),),
        expected=Expected("RUNNING", "Failed", "DeadlineExceeded", succeeded=0, failed=1),
    ),
    Scenario(
        "prerunning-deadline",
        "Has a worker that no node takes, fails at preRunningDeadlineSeconds and shuts its RayCluster down.",
        cluster_gone,
        {
            **_HTTP,
            "preRunningDeadlineSeconds": 12,
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": {"workerGroupSpecs": [NO_NODE]},
        },
        expected=Expected("", "Failed", "PreRunningDeadlineExceeded", starts=0, succeeded=0, failed=1),
    ),
)
