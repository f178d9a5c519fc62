"""The operator is away, loses its leader, or loses its way to the dashboard or to the API server."""

import time
from collections.abc import Sequence

from kuberay_e2e.clusterfaults.actions import LEASE
from kuberay_e2e.clusterfaults.trial import NAME, Trial
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.verdicts import Finding

DASHBOARD_PORT = 8265
AWAY_SECONDS = 10.0
CUT_AFTER_END_SECONDS = 33.0
"""How long the operator is cut off after the job's end: longer than the 30 s that it gives a finished submitter."""

_TAKEOVER_SECONDS = 90.0
_API_SECONDS = 120.0


def scale_to_zero(trial: Trial) -> Sequence[Finding]:
    """Scale the operator to zero, delete the RayJob, wait, and scale the operator back."""
    trial.wait_started()
    promise = "the finalizer waits for the operator"
    with trial.actions.operator_changed(replicas=0):
        trial.strike("operator scaled to 0, then the RayJob deleted")
        trial.delete()
        time.sleep(AWAY_SECONDS)
        found = trial.session.reader.get("RayJob", trial.namespace, NAME)
        meta = (found or {}).get("metadata") or {}
        kept = bool(meta.get("deletionTimestamp") and meta.get("finalizers"))
        seen = f"deletionTimestamp and {meta.get('finalizers')} after {AWAY_SECONDS:.0f} s" if kept else "gone at once"
    trial.strike("operator scaled back")
    return [Finding(promise, kept, seen)]


def kill_leader(trial: Trial) -> Sequence[Finding]:
    """Run two operators that elect a leader, and kill the leader with SIGKILL while the job runs."""
    with trial.actions.operator_changed(replicas=2, leader_election=True):
        wait_for("a leader", lambda: _leader(trial, ""), seconds=_TAKEOVER_SECONDS, pause=0.5)
        trial.wait_started()
        before = trial.actions.lease_holder()
        [pod, *_] = [pod for pod in trial.actions.operator_pods() if before.startswith(pod["metadata"]["name"])]
        trial.strike(f"SIGKILL to the leader {pod['metadata']['name']}, and its pod deleted")
        trial.actions.kill(pod)
        trial.actions.delete("Pod", pod, grace=0)
        found = _takeover(trial, before)
        trial.executions.release()
        trial.wait_end(_TAKEOVER_SECONDS)
        return [found]


def cut_dashboard(trial: Trial) -> Sequence[Finding]:
    """Drop the operator's packets to the dashboard from before the job's end until well after it."""
    trial.wait_started()
    [operator] = trial.actions.operator_pods()
    dashboard = trial.head()["status"]["podIP"]
    trial.strike(f"packets of {operator['metadata']['name']} to {dashboard}:{DASHBOARD_PORT} dropped")
    with trial.actions.cut(operator, dashboard, DASHBOARD_PORT):
        trial.executions.release()
        wait_for("job and submitter to end", lambda: _job_ended(trial), seconds=_API_SECONDS, pause=0.5)
        time.sleep(CUT_AFTER_END_SECONDS)
        trial.strike("packets let through again")
    return ()


def kill_api_server(trial: Trial) -> Sequence[Finding]:
    """Kill the API server's container on its node with SIGKILL; the kubelet starts it again."""
    trial.wait_started()
    pod = trial.actions.api_server_pod()
    trial.strike(f"SIGKILL to the API server {pod['metadata']['name']}")
    trial.actions.kill(pod)
    trial.executions.release()
    return [
        trial.comes_about(
            "the API server comes back",
            "the API server to answer",
            lambda: _answers(trial),
            seconds=_API_SECONDS,
            said="it answered again {} s after the fault",
        )
    ]


def _takeover(trial: Trial, before: str) -> Finding:
    return trial.comes_about(
        "another leader takes over",
        "another leader",
        lambda: _leader(trial, before),
        seconds=_TAKEOVER_SECONDS,
        pause=0.2,
    )


def _leader(trial: Trial, before: str) -> None:
    holder = trial.actions.lease_holder()
    if not holder or holder == before:
        raise NotYetError(f"the holder {holder or 'nobody'} of {LEASE}")
    if not before and not any(holder.startswith(pod["metadata"]["name"]) for pod in trial.actions.operator_pods()):
        raise NotYetError(f"the holder {holder}, whose pod is gone")


def _job_ended(trial: Trial) -> None:
    if not any(run.ended for run in trial.executions.read()):
        raise NotYetError("a run without an end")
    for job in trial.session.reader.list("Job", trial.namespace):
        if not (job.get("status") or {}).get("completionTime"):
            raise NotYetError("a submitter Job that is not complete")


def _answers(trial: Trial) -> None:
    try:
        trial.session.reader.get("RayJob", trial.namespace, NAME)
    except HarnessError as error:
        raise NotYetError(str(error)) from None
