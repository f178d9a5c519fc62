"""The submitter is taken away while the job runs, or cannot run at all."""

from collections.abc import Sequence

from kuberay_e2e.api import Object
from kuberay_e2e.clusterfaults.trial import START_SECONDS, SUBMITTER, Trial
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.verdicts import Finding

OOM_KILLED = "the container runtime reports OOMKilled"
_OOM_SECONDS = 60.0
_REPLACED_SECONDS = 120.0


def delete_pod(trial: Trial) -> Sequence[Finding]:
    """Delete the submitter's pod."""
    trial.wait_started()
    pod = trial.submitter()
    trial.strike(f"submitter pod {pod['metadata']['name']} deleted")
    trial.actions.delete("Pod", pod)
    found = _replaced(trial, str(pod["metadata"]["uid"]))
    trial.executions.release()
    return [found]


def delete_job(trial: Trial) -> Sequence[Finding]:
    """Delete the submitter Job with its pod."""
    trial.wait_started()
    job = trial.submitter_job()
    trial.strike(f"submitter Job {job['metadata']['name']} deleted with its pod")
    trial.actions.delete("Job", job)
    trial.executions.release()
    return ()


def run_out_of_memory(trial: Trial) -> Sequence[Finding]:
    """Use up the submitter's memory from inside of its container, until the kernel kills its first process."""
    trial.wait_started()
    pod = trial.submitter()
    trial.strike(f"memory of the submitter pod {pod['metadata']['name']} used up")
    trial.actions.use_up_memory(pod)
    uid = str(pod["metadata"]["uid"])
    found = [_killed(trial, uid), _replaced(trial, uid)]
    trial.executions.release()
    return found


def never_fit(trial: Trial) -> Sequence[Finding]:
    """Give the submitter less memory than `ray` needs to start; each of its pods is OOM-killed."""
    wait_for("a submitter to be OOM-killed", lambda: _any_killed(trial.pods(SUBMITTER)), seconds=START_SECONDS)
    trial.strike("the first submitter was OOM-killed, because it has less memory than it needs")
    return [Finding(OOM_KILLED, True, "of the first submitter")]


def oom_killed(pod: Object) -> bool:
    """True where a container of the pod was ended for lack of memory."""
    states = [
        status.get(when) or {}
        for status in (pod.get("status") or {}).get("containerStatuses") or ()
        for when in ("state", "lastState")
    ]
    return any((state.get("terminated") or {}).get("reason") == "OOMKilled" for state in states)


def _killed(trial: Trial, uid: str) -> Finding:
    def look() -> None:
        _any_killed([pod for pod in trial.pods() if pod["metadata"]["uid"] == uid])

    said = "{} s after its memory began to be used up"
    return trial.comes_about(OOM_KILLED, "OOMKilled of the submitter", look, seconds=_OOM_SECONDS, said=said)


def _replaced(trial: Trial, uid: str) -> Finding:
    def look() -> None:
        try:
            pod = trial.submitter()
        except HarnessError as error:
            raise NotYetError(str(error)) from None
        if pod["metadata"]["uid"] == uid:
            raise NotYetError("the one that was there")

    return trial.comes_about(
        "another submitter is started",
        "another submitter to run",
        look,
        seconds=_REPLACED_SECONDS,
        said="it runs {} s after the fault",
    )


def _any_killed(pods: Sequence[Object]) -> None:
    if not any(oom_killed(pod) for pod in pods):
        seen = [f"{pod['metadata']['name']} {_states(pod)}" for pod in pods]
        raise NotYetError(", ".join(seen) or "no submitter")


def _states(pod: Object) -> str:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return ", ".join(next(iter(status["state"])) for status in statuses) or str(pod["status"].get("phase"))
