"""Pods of the RayCluster are killed, and a node is drained."""

from collections.abc import Sequence

from kuberay_e2e.clusterfaults.trial import Trial
from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.verdicts import Finding

_AGAIN_SECONDS = 120.0


def kill_head(trial: Trial) -> Sequence[Finding]:
    """End the head's containers with SIGKILL and delete the pod, as the loss of its node would."""
    trial.wait_started()
    head = trial.head()
    trial.strike(f"SIGKILL to the containers of the head pod {head['metadata']['name']}, and the pod deleted")
    trial.actions.kill(head)
    trial.actions.delete("Pod", head, grace=0)
    trial.executions.release()
    return ()


def kill_worker(trial: Trial) -> Sequence[Finding]:
    """End the worker's container with SIGKILL and delete the pod, while a task runs on it."""
    trial.wait_started(task=True)
    worker = trial.worker()
    trial.strike(f"SIGKILL to the container of the worker pod {worker['metadata']['name']}, and the pod deleted")
    trial.actions.kill(worker)
    trial.actions.delete("Pod", worker, grace=0)
    found = [_again(trial, worker["metadata"]["uid"]), _task_again(trial)]
    trial.executions.release()
    return found


def drain(trial: Trial) -> Sequence[Finding]:
    """Cordon the node of the head and evict the RayJob's pods from it, as `kubectl drain` does."""
    trial.wait_started()
    node = trial.head()["spec"]["nodeName"]
    evicted = [pod for pod in trial.pods() if pod["spec"].get("nodeName") == node]
    trial.strike(f"node {node} drained of {', '.join(pod['metadata']['name'] for pod in evicted)}")
    trial.actions.cordon(node, on=True)
    try:
        for pod in evicted:
            trial.actions.evict(pod)
        promise = "no pod stays on the drained node"
        names = {pod["metadata"]["uid"] for pod in evicted}
        try:
            wait_for("the evicted pods to go", lambda: _gone(trial, names), seconds=_AGAIN_SECONDS, pause=0.5)
        except VerificationError as error:
            return [Finding(promise, False, str(error))]
        left = [pod for pod in trial.pods() if pod["spec"].get("nodeName") == node]
        return [Finding(promise, not left, f"{len(evicted)} evicted, {len(left)} there afterwards")]
    finally:
        trial.actions.cordon(node, on=False)
        trial.executions.release()


def _again(trial: Trial, uid: str) -> Finding:
    return trial.comes_about(
        "the worker is created again",
        "another worker to run",
        lambda: _another(trial, uid),
        seconds=_AGAIN_SECONDS,
        said="another runs {} s after the fault",
    )


def _task_again(trial: Trial) -> Finding:
    def look() -> None:
        if (starts := sum(run.tasks for run in trial.executions.read())) < 2:
            raise NotYetError(f"{starts} starts of the task")

    return trial.comes_about(
        "the lost task is run again",
        "the task to start again",
        look,
        seconds=_AGAIN_SECONDS,
        said="it started again {} s after the fault",
    )


def _another(trial: Trial, uid: str) -> None:
    try:
        worker = trial.worker()
    except HarnessError as error:
        raise NotYetError(str(error)) from None
    if worker["metadata"]["uid"] == uid:
        raise NotYetError("the one that was killed")


def _gone(trial: Trial, uids: set[str]) -> None:
    left = [pod["metadata"]["name"] for pod in trial.pods() if pod["metadata"]["uid"] in uids]
    if left:
        raise NotYetError(", ".join(left))
