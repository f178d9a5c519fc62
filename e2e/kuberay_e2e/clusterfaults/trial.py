"""A RayJob that goes through a fault: from its creation to the last object that it owns."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kuberay_e2e.api import KINDS, Object
from kuberay_e2e.clusterfaults import timeline, workload
from kuberay_e2e.clusterfaults.actions import Actions
from kuberay_e2e.clusterfaults.executions import Execution, Executions
from kuberay_e2e.clusterfaults.expectations import Expectation, ending
from kuberay_e2e.clusterfaults.workload import Load
from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.session import Session
from kuberay_e2e.verdicts import Finding
from kuberay_model.outcome import outcome

NAME = "job"
"""Name of the RayJob."""

SUBMITTER = f"job-name={NAME}"
"""Selects the submitter's pods."""

START_SECONDS = 300.0
"""How long head, submitter and entrypoint may take to start while others start on the same machine, seconds."""

CLEANUP_SECONDS = 120.0
_SETTLE_SECONDS = 3.0
"""After the end, an entrypoint that still runs has time to say so, seconds."""

_PAUSE = 0.5


class Trial:
    """A RayJob under a fault, in a namespace of its own.

    Args:
        session: The session.
        namespace: The namespace, which has no other RayJob.

    Attributes:
        actions: Acts on the cluster.
        executions: The runs of the entrypoint.
        uid: UID of the RayJob, once there is one.
        kept: What happened, line by line, once the RayJob was deleted.
    """

    def __init__(self, session: Session, namespace: str) -> None:
        self.session = session
        self.namespace = namespace
        self.actions = Actions(session)
        self.executions = Executions(session.cluster, namespace)
        self.uid = ""
        self.kept: tuple[str, ...] = ()
        self._struck = 0.0
        self._end: tuple[float, Mapping[str, Any]] | None = None

    @contextmanager
    def rayjob(self, load: Load) -> Iterator[None]:
        """Create the RayJob; it is deleted when the block ends, however that is."""
        self.executions.prepare()
        configs = f"/api/v1/namespaces/{self.namespace}/configmaps"
        self.actions.create(configs, workload.config_map(self.namespace))
        manifest = workload.rayjob(self.namespace, NAME, load, self.executions.folder)
        self.uid = self.actions.create(KINDS["RayJob"].format(namespace=self.namespace), manifest)["metadata"]["uid"]
        try:
            yield
        finally:
            self.kept = timeline.lines(self.recording(), self.executions.read())
            self.delete()
            self.executions.remove()

    def strike(self, action: str) -> None:
        """Note in the trace what is about to be done, and count time from here."""
        self._struck = time.time()
        self.session.trace.add("fault", namespace=self.namespace, action=action)

    def wait_started(self, *, task: bool = False) -> None:
        """Wait until the entrypoint runs and the RayJob says so.

        Args:
            task: Wait until a task of it runs on a worker too.
        """
        wait_for("the entrypoint to run", lambda: self._started(int(task)), seconds=START_SECONDS, pause=_PAUSE)

    def wait_end(self, seconds: float) -> None:
        """Wait for the end of the RayJob; without one, the time passes.

        Args:
            seconds: How long to wait.
        """
        try:
            wait_for("an end", self._ended, seconds=seconds, pause=_PAUSE)
        except VerificationError:
            return
        time.sleep(_SETTLE_SECONDS)

    def comes_about(
        self,
        promise: str,
        what: str,
        look: Callable[[], object],
        *,
        seconds: float,
        pause: float = _PAUSE,
        said: str = "{} s after the fault",
    ) -> Finding:
        """Wait until something comes about, and say after how many seconds it did.

        Args:
            promise: The promise that it keeps.
            what: What is waited for.
            look: Raises NotYetError with what it sees until it has come about.
            seconds: How long to wait.
            pause: Seconds between two looks.
            said: What was seen, with the seconds since the fault for its braces.
        """
        try:
            wait_for(what, look, seconds=seconds, pause=pause)
        except VerificationError as error:
            return Finding(promise, False, str(error))
        return Finding(promise, True, said.format(f"{self.since_strike():.0f}"))

    def status(self) -> Mapping[str, Any]:
        """The RayJob's status; empty where the RayJob is gone."""
        found = self.session.reader.get("RayJob", self.namespace, NAME)
        return (found or {}).get("status") or {}

    def head(self) -> Object:
        """The head pod that runs."""
        return self._pod("ray.io/node-type=head")

    def worker(self) -> Object:
        """A worker pod that runs."""
        return self._pod("ray.io/node-type=worker")

    def submitter(self) -> Object:
        """The submitter's pod that runs."""
        return self._pod(SUBMITTER)

    def submitter_job(self) -> Object:
        """The submitter Job."""
        found = self.session.reader.get("Job", self.namespace, NAME)
        if found is None:
            raise VerificationError(f"Expected the submitter Job {self.namespace}/{NAME} to be there; it is not.")
        return found

    def pods(self, selector: str = "") -> list[Object]:
        """The pods of the namespace."""
        return self.session.reader.list("Pod", self.namespace, selector=selector)

    def delete(self) -> None:
        """Delete the RayJob."""
        self.actions.delete("RayJob", {"metadata": {"namespace": self.namespace, "name": NAME}})

    def recording(self) -> Recording:
        """What was recorded of the RayJob."""
        return Recording.of(self.session.trace.events(), self.uid)

    def findings(self, expectation: Expectation) -> list[Finding]:
        """What became of the promises that every scenario looks at."""
        runs = self.executions.read()
        found = [self._end_finding(expectation)] if expectation.ends else []
        found += [starts_finding(runs, expectation.starts), self._children_finding()]
        if self._end is not None:
            found.append(truth_finding(*self._end, runs))
        return found

    def cleanup_finding(self) -> Finding:
        """Whether everything goes after the RayJob was deleted."""
        promise = "nothing is left after deletion"
        begin = time.monotonic()
        try:
            wait_for("nothing to be left", self._gone, seconds=CLEANUP_SECONDS, pause=_PAUSE)
        except VerificationError as error:
            return Finding(promise, False, str(error))
        return Finding(promise, True, f"gone {time.monotonic() - begin:.0f} s after the deletion")

    def since_strike(self) -> float:
        """Seconds since the fault."""
        return time.time() - self._struck

    def _end_finding(self, expectation: Expectation) -> Finding:
        promise, expected = "RayJob ends as promised", " or ".join(expectation.ends)
        if self._end is None:
            seen = f"no end {self.since_strike():.0f} s after the fault, {_state(self.status())}"
            return Finding(promise, False, seen, expected)
        when, status = self._end
        seen = ending(status["jobDeploymentStatus"], status.get("jobStatus", ""), status.get("reason", ""))
        return Finding(
            promise, seen in expectation.ends, f"{seen} {when - self._struck:.0f} s after the fault", expected
        )

    def _children_finding(self) -> Finding:
        recording = self.recording()
        clusters, jobs = len(recording.uids("RayCluster")), len(recording.uids("Job"))
        seen = f"{clusters} RayCluster, {jobs} submitter Job"
        return Finding("one RayCluster and at most one submitter Job", clusters == 1 and jobs <= 1, seen)

    def _started(self, tasks: int) -> None:
        status = self.status()
        if outcome({"status": status}).terminal:
            raise HarnessError(f"Expected the RayJob to run so that the fault could act; it ended: {_state(status)}.")
        now = time.time()
        if status.get("jobStatus") != "RUNNING" or not any(
            run.runs(now) and run.tasks >= tasks for run in self.executions.read()
        ):
            pods = ", ".join(map(_described, self.pods())) or "none"
            raise NotYetError(f"{_state(status)} with the pods {pods}")

    def _ended(self) -> None:
        try:
            status = self.status()
        except HarnessError as error:
            raise NotYetError(str(error)) from None
        if not outcome({"status": status}).terminal:
            raise NotYetError(_state(status))
        self._end = (time.time(), status)

    def _gone(self) -> None:
        left = [
            f"{kind} {item['metadata']['name']}"
            for kind in ("RayJob", "RayCluster", "Job", "Pod")
            for item in self.session.reader.list(kind, self.namespace)
        ]
        if left:
            raise NotYetError(f"{', '.join(left)}")

    def _pod(self, selector: str) -> Object:
        for pod in self.pods(selector):
            if pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp"):
                return pod
        raise HarnessError(f"Expected a running pod {selector} in {self.namespace}; there is none.")


def starts_finding(runs: Sequence[Execution], allowed: tuple[int, int]) -> Finding:
    """Whether the entrypoint ran as often as promised.

    Args:
        runs: Its runs.
        allowed: How often it may start, at least and at most.
    """
    least, most = allowed
    ended = sum(run.ended for run in runs)
    seen = f"{len(runs)} starts, {ended} came to their end"
    expected = f"{least} starts" if least == most else f"{least} to {most} starts"
    return Finding("entrypoint runs as often as promised", least <= len(runs) <= most, seen, expected)


def truth_finding(when: float, status: Mapping[str, Any], runs: Sequence[Execution]) -> Finding:
    """Whether the RayJob's end agrees with what became of its entrypoint.

    Args:
        when: When the end was seen, seconds since the epoch.
        status: The RayJob's status at its end.
        runs: The runs of the entrypoint.
    """
    promise = "status agrees with the entrypoint"
    said = ending(status["jobDeploymentStatus"], status.get("jobStatus", ""), status.get("reason", ""))
    succeeded = said.startswith("Complete")
    last = runs[-1] if runs else None
    if last is None:
        return Finding(promise, not succeeded, f"{said}, and the entrypoint never started")
    if last.ended:
        return Finding(promise, succeeded, f"{said}, and the entrypoint had come to its end")
    if last.last > when:
        return Finding(promise, False, f"{said}, and the entrypoint still ran")
    return Finding(promise, not succeeded, f"{said}, and the entrypoint had been broken off")


def _described(pod: Object) -> str:
    """A pod for a message: its phase, its node and why it is not ready."""
    status = pod.get("status") or {}
    conditions = {item["type"]: item for item in status.get("conditions") or ()}
    ready = conditions.get("ContainersReady") or {}
    why = "ready" if ready.get("status") == "True" else str(ready.get("reason") or "not ready")
    node = pod["spec"].get("nodeName") or "no node"
    return f"{pod['metadata']['name']} {status.get('phase')} on {node} ({why})"


def _state(status: Mapping[str, Any]) -> str:
    deployment, job = status.get("jobDeploymentStatus") or "New", status.get("jobStatus") or "no jobStatus"
    return f"{deployment} with {job}" + (f" ({status['reason']})" if status.get("reason") else "")
