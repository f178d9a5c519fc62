"""The ten steps, driven on a session."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.gateway import Fault
from kuberay_e2e.lifecycle import invariants
from kuberay_e2e.lifecycle.clock import Clock
from kuberay_e2e.lifecycle.logs import JobLogs, JobReader, tail
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.lifecycle.result import Invariant, Result, State, Step
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.lifecycle.workload import Workload
from kuberay_e2e.session import Session
from kuberay_model import waiter
from kuberay_model.outcome import Outcome, outcome

_SETTLE_SECONDS = 60.0
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Settings:
    """What a life cycle is driven with.

    Attributes:
        fault: The write at which the operator is disturbed, and how.
        ttl_seconds: Time to live of the second RayJob's cluster, seconds.
        job_seconds: How long a job may take, seconds.
    """

    fault: Fault
    ttl_seconds: int = 10
    job_seconds: float = 600.0


class LifeCycle:
    """Drives one RayJob through the ten steps.

    Args:
        workload: The RayJob.
        settings: What it is driven with.
        open_session: Creates cluster and session; entered in step 1, left in step 10.
        ray: Name of the Ray back end, for the report.
        begun: Called with the number of a step that begins.
        ended: Called with each step that ended.
    """

    def __init__(
        self,
        workload: Workload,
        settings: Settings,
        open_session: Callable[[], AbstractContextManager[Session]],
        *,
        ray: str,
        begun: Callable[[int], None] = lambda _: None,
        ended: Callable[[Step], None] = lambda _: None,
        keep: Callable[[Session], None] = lambda _: None,
    ) -> None:
        self._workload = workload
        self._settings = settings
        self._open = open_session
        self._ray = ray
        self._begun = begun
        self._ended = ended
        self._keep = keep
        self._clock = Clock()
        self._steps: list[Step] = []
        self._invariants: list[Invariant] = []
        self._uids: list[str] = []
        self._installed = False

    def run(self) -> Result:
        """Drive all steps; what was started is stopped, whatever happens."""
        started = time.monotonic()
        manager = self._open()
        session: Session | None = None
        try:
            session = self._step(1, manager.__enter__, self._describe_cluster)
            if session is not None:
                self._drive(session)
        except BaseException:
            self._leave(manager, session)
            raise
        self._finish(manager, session)
        seconds = time.monotonic() - started
        return Result(
            self._workload.source,
            self._ray,
            str(self._settings.fault),
            self._steps,
            self._invariants,
            seconds,
            self._clock.split(seconds),
        )

    def _drive(self, session: Session) -> None:
        steps: Mapping[int, Callable[[Session], str]] = {
            2: self._install,
            3: self._create,
            4: self._verify_kept,
            5: self._read_log,
            6: self._delete,
            7: self._create_with_ttl,
            8: self._verify_status,
            9: self._verify_ttl,
        }
        for number, action in steps.items():
            self._step(number, lambda action=action: action(session), str)  # type: ignore[misc]

    def _step(self, number: int, action: Callable[[], Any], describe: Callable[[Any], str]) -> Any:
        if any(step.state is not State.HELD for step in self._steps):
            self._add(Step(number, State.SKIPPED, 0.0))
            return None
        self._begun(number)
        started = time.monotonic()
        try:
            value = action()
        except VerificationError as error:
            self._add(Step(number, State.FAILED, time.monotonic() - started, str(error)))
            return None
        except HarnessError as error:
            self._add(Step(number, State.ERROR, time.monotonic() - started, str(error)))
            return None
        self._add(Step(number, State.HELD, time.monotonic() - started, describe(value)))
        return value

    def _add(self, step: Step) -> None:
        self._steps.append(step)
        self._ended(step)

    @staticmethod
    def _describe_cluster(session: Session) -> str:
        return f"API server at {session.access.server}"

    def _install(self, session: Session) -> str:
        with self._clock.pulumi():
            session.install()
            self._installed = True
        session.start_operator()
        return f"KubeRay operator, incarnation {session.operator.incarnation}"

    def _create(self, session: Session) -> str:
        fault = self._settings.fault
        session.arm(fault)
        seen = self._apply(session, self._workload.kept())
        return f"{seen}; {self._recover(session, fault)}"

    def _recover(self, session: Session, fault: Fault) -> str:
        with self._clock.kuberay():
            wait_for(
                f"the write {fault.write} of the operator",
                lambda: self._fired(session, fault),
                seconds=self._settings.job_seconds,
            )
        if not fault.position.kills:
            return f"response lost at {fault}, the operator lives"
        killed = session.operator.incarnation
        session.operator.wait_killed()
        session.start_operator()
        return f"incarnation {killed} killed at {fault}, restarted"

    def _fired(self, session: Session, fault: Fault) -> None:
        if not fault.fired.is_set():
            found = self._rayjob(session)
            if found is not None and (ended := outcome(found)).terminal:
                raise VerificationError(
                    f"Expected the operator to make the write {fault.write} so that the fault could act; the RayJob "
                    f"ended without it ({ended.sentence}). The writes it made: {', '.join(session.writes())}."
                )
            raise NotYetError(f"the writes {', '.join(session.writes()) or 'none'}")

    def _verify_kept(self, session: Session) -> str:
        ended = self._wait_end(session)
        found = self._present(session)
        clusters = session.reader.list("RayCluster", self._workload.namespace, owner=found["metadata"]["uid"])
        if len(clusters) != 1 or clusters[0]["metadata"].get("deletionTimestamp"):
            raise VerificationError(f"Expected one RayCluster to be kept after the end; saw {_names(clusters)}.")
        pods = session.reader.list("Pod", self._workload.namespace, owner=clusters[0]["metadata"]["uid"])
        if not any((pod["metadata"].get("labels") or {}).get("ray.io/node-type") == "head" for pod in pods):
            raise VerificationError(f"Expected a running head pod in the kept RayCluster; saw pods {_names(pods)}.")
        jobs = session.reader.list("Job", self._workload.namespace, owner=found["metadata"]["uid"])
        if len(jobs) != int(self._workload.has_submitter_job):
            raise VerificationError(f"Expected one submitter Job; saw {_names(jobs)}.")
        return f"{ended.sentence}; RayCluster {clusters[0]['metadata']['name']} kept with {len(pods)} pods"

    def _read_log(self, session: Session) -> str:
        logs = JobLogs(self._workload, session)
        text = logs.submitter()
        lines = iter(text.splitlines())
        missing = [line for line in logs.expected() if not any(line in seen for seen in lines)]
        if missing:
            raise VerificationError(
                f"Expected the job's own output in the log, in order; {missing[0]!r} is missing in:\n{tail(text)}"
            )
        return f"{len(text.splitlines())} lines, with the job's output"

    def _delete(self, session: Session) -> str:
        uid = self._present(session)["metadata"]["uid"]
        seen = self._apply(session, None)
        with self._clock.kuberay():
            wait_for("nothing of the RayJob to be left", lambda: self._gone(session, uid), seconds=_SETTLE_SECONDS)
        return seen

    def _create_with_ttl(self, session: Session) -> str:
        return self._apply(session, self._workload.shut_down(self._settings.ttl_seconds))

    def _verify_status(self, session: Session) -> str:
        ended = self._wait_end(session)
        status = self._present(session)["status"]
        if not status.get("endTime"):
            raise VerificationError(f"Expected status.endTime after the end; saw {status}.")
        return f"{ended.sentence}; endTime {status['endTime']}"

    def _verify_ttl(self, session: Session) -> str:
        found = self._present(session)
        uid, ttl = found["metadata"]["uid"], self._settings.ttl_seconds
        with self._clock.kuberay():
            wait_for(
                f"the RayCluster to go {ttl} s after the end",
                lambda: self._cluster_gone(session, uid),
                seconds=ttl + _SETTLE_SECONDS,
            )
        self._present(session)
        if self._workload.has_submitter_job and not session.reader.list("Job", self._workload.namespace, owner=uid):
            raise VerificationError("Expected the submitter Job to stay until the RayJob is deleted; it is gone.")
        self._apply(session, None)
        with self._clock.kuberay():
            wait_for("nothing of the RayJob to be left", lambda: self._gone(session, uid), seconds=_SETTLE_SECONDS)
        return "RayJob and submitter Job stayed until the RayJob was deleted, then went"

    def _finish(self, manager: AbstractContextManager[Session], session: Session | None) -> None:
        self._begun(10)
        started = time.monotonic()
        state, detail = State.HELD, ""
        try:
            if session is not None:
                detail = self._uninstall(session)
        except VerificationError as error:
            state, detail = State.FAILED, str(error)
        except HarnessError as error:
            state, detail = State.ERROR, str(error)
        try:
            if session is not None:
                self._judge(session)
        finally:
            try:
                self._leave(manager, session)
            except HarnessError as error:
                state, detail = State.ERROR, str(error)
        self._add(Step(10, state, time.monotonic() - started, detail))

    def _uninstall(self, session: Session) -> str:
        if not self._installed:
            return "cluster gone"
        with self._clock.pulumi():
            session.uninstall()
        session.stop_operator()
        installed = session.installation
        if not installed.operator:
            return "jobs deleted, the operator that was there left alone"
        if session.reader.get("Deployment", installed.namespace, installed.deployment) is not None:
            raise VerificationError(
                f"Expected the Deployment {installed.namespace}/{installed.deployment} to be gone; it is there."
            )
        return f"operator uninstalled, cluster {'gone' if installed.throwaway else 'as it was found'}"

    def _leave(self, manager: AbstractContextManager[Session], session: Session | None) -> None:
        if session is not None:
            try:
                self._keep(session)
            finally:
                manager.__exit__(None, None, None)

    def _judge(self, session: Session) -> None:
        events = session.trace.events()
        has_submitter = self._workload.has_submitter_job
        for uid, which in zip(self._uids, ("first", "second"), strict=False):
            recording = Recording.of(events, uid)
            found = [check(recording, session.ledger, has_submitter) for check in invariants.INVARIANTS]
            if which == "second":
                found += [
                    invariants.ttl_kept(recording, self._settings.ttl_seconds),
                    invariants.kept_until_deleted(recording, has_submitter),
                ]
            self._invariants += [Invariant(f"{which} RayJob: {item.name}", item.held, item.seen) for item in found]
        whole = Recording("", [], [], events)
        fired = self._settings.fault.fired.is_set()
        seen = str(self._settings.fault) if fired else "expected it to fire; its write was never seen"
        check = invariants.no_write_after_death if session.has_gateway else invariants.no_unasked_restart
        self._invariants += [
            Invariant("the fault fired", fired, seen),
            check(whole, session.ledger, has_submitter),
        ]

    def _apply(self, session: Session, rayjob: Mapping[str, Any] | None) -> str:
        folder = session.run.path("manifests")
        config = {
            "namespaces": self._workload.namespaces,
            "namespace": self._workload.namespace,
            "manifests": self._workload.write(folder, rayjob),
        }
        with self._clock.pulumi():
            change = session.stacks.jobs.apply(config)
        counts = ", ".join(f"{count} {name}" for name, count in sorted(change.resources.items()) if name != "unchanged")
        if rayjob is not None:
            self._uids.append(self._present(session)["metadata"]["uid"])
        return f"pulumi up: {counts or 'no change'}"

    def _wait_end(self, session: Session) -> Outcome:
        reader = JobReader(self._workload, session)
        try:
            with self._clock.kuberay():
                return waiter.wait(
                    reader,
                    waiter.WaitGoal.FINISHED,
                    timeout_seconds=self._settings.job_seconds,
                    pause_seconds=_PAUSE_SECONDS,
                )
        except waiter.WaitError as error:
            raise VerificationError(str(error)) from None

    def _gone(self, session: Session, uid: str) -> None:
        left = Recording.of(session.trace.events(), uid)
        check = invariants.nothing_left(left, session.ledger, True)
        if not check.held:
            raise NotYetError(check.seen)

    def _cluster_gone(self, session: Session, uid: str) -> None:
        clusters = session.reader.list("RayCluster", self._workload.namespace, owner=uid)
        if clusters:
            raise NotYetError(f"{_names(clusters)}")

    def _rayjob(self, session: Session) -> Mapping[str, Any] | None:
        return session.reader.get("RayJob", self._workload.namespace, self._workload.name)

    def _present(self, session: Session) -> Mapping[str, Any]:
        found = self._rayjob(session)
        if found is None:
            raise VerificationError(
                f"Expected the RayJob {self._workload.namespace}/{self._workload.name} to be there; it is not."
            )
        return found


def _names(items: list[Mapping[str, Any]]) -> str:
    return ", ".join(item["metadata"]["name"] for item in items) or "none"
