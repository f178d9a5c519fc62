"""Runs to completion, in each submission mode and on a RayCluster that was there before."""

from kuberay_e2e.crash.manifest import raycluster
from kuberay_e2e.crash.scenario import Act, Action, Expected, Scenario, ended, ever, state
from kuberay_e2e.ray import Script

_SELECTED = "shared"
_SEEN = (Script(duration=3.5),)
"""Longer than the 3 s after which KubeRay looks at a RayJob again, so that it stores jobStatus RUNNING."""

SCENARIOS = (
    Scenario("k8sjob", "Runs to completion, submitted by a Job (K8sJobMode).", ended, script=_SEEN, looks=2),
    Scenario(
        "http",
        "Runs to completion, submitted by the operator (HTTPMode).",
        ended,
        {"submissionMode": "HTTPMode"},
        script=_SEEN,
        looks=3,
    ),
    Scenario(
        "in-time",
        "Ends long before its deadlines: preRunningDeadlineSeconds 20, activeDeadlineSeconds 40.",
        ended,
        {"submissionMode": "HTTPMode", "preRunningDeadlineSeconds": 20, "activeDeadlineSeconds": 40},
    ),
    Scenario(
        "sidecar",
        "Runs to completion, submitted by a container in the head pod (SidecarMode).",
        ended,
        {"submissionMode": "SidecarMode"},
        script=_SEEN,
        looks=2,
    ),
    Scenario(
        "interactive",
        "Its user submits the job to Ray, then sets jobId (InteractiveMode).",
        ended,
        {"submissionMode": "InteractiveMode", "entrypoint": None},
        script=_SEEN,
        actions=(
            Action(Act.SUBMIT, state(jobDeploymentStatus="Waiting")),
            Action(Act.SET_JOB_ID, state(jobDeploymentStatus="Waiting")),
        ),
    ),
    Scenario(
        "selector",
        "Runs on a RayCluster that its user has made (clusterSelector), which stays.",
        ended,
        {"clusterSelector": {"ray.io/cluster": _SELECTED}, "rayClusterSpec": None},
        expected=Expected(clusters=0, submitters=1),
        objects=(raycluster(_SELECTED),),
    ),
    Scenario(
        "stopped",
        "Its user stops the job in Ray.",
        ended,
        {"submissionMode": "HTTPMode"},
        (Script(duration=600.0),),
        (Action(Act.STOP_JOB, ever(jobStatus="RUNNING")),),
        Expected("STOPPED", succeeded=0),
    ),
)
