"""What a scenario is, and the desk at which it is played."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from kuberay_e2e.deviations import Deviations, judge
from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.gateway import Fault, Position
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.lifecycle.waiting import NotYetError, wait_for
from kuberay_e2e.queueing import evidence, requests
from kuberay_e2e.queueing.jobs import QueuedJob, RefusedError
from kuberay_e2e.queueing.queues import Quota
from kuberay_e2e.queueing.workloads import blocker, rayjob
from kuberay_e2e.session import Session
from kuberay_e2e.verdicts import Finding, State, Verdict

SIMULATED, REAL = "simulated-pods", "real-pods"
"""Modes of a verdict: what deviates may depend on pods that take their time to end."""

_SIMULATED_SECONDS, _REAL_SECONDS = 60.0, 300.0
"""How long a promise may take to be kept, on a loaded machine of two CPUs."""


class BrokenPromiseError(Exception):
    """A promise was broken on which the rest of the scenario builds; the finding is recorded."""


class Desk:
    """What a scenario works with, and where it puts down what it finds.

    Attributes:
        session: The session.
        namespace: The scenario's own namespace, with queues.
        client: Client of the API server.
        fault: The write at which the operator is to be killed, or None.
        findings: The promises so far.
    """

    def __init__(self, session: Session, namespace: str, client: httpx.Client, fault: Fault | None) -> None:
        self.session = session
        self.namespace = namespace
        self.client = client
        self.fault = fault
        self.findings: list[Finding] = []
        self._seconds = _SIMULATED_SECONDS if session.cluster.simulated_pods else _REAL_SECONDS

    def job(self, name: str, *, queue: str, **settings: Any) -> QueuedJob:
        """A RayJob that is not created yet; see `workloads.rayjob` for the settings."""
        return QueuedJob(self.session, self.client, rayjob(self.namespace, name, queue=queue, **settings))

    def take_quota(self, name: str, *, queue: str, millicpus: int) -> None:
        """Create a batch Job that has quota and does nothing until it is deleted, and wait until it is admitted.

        Args:
            name: Its name.
            queue: The LocalQueue.
            millicpus: CPU that it takes, in thousandths.

        Raises:
            BrokenPromiseError: It was not admitted in time.
        """
        requests.create(self.client, "Job", blocker(self.namespace, name, queue=queue, millicpus=millicpus))

        def admitted() -> str:
            found = self.session.reader.get("Job", self.namespace, name)
            if found is None or found["spec"].get("suspend"):
                raise NotYetError(f"the Job {name} is suspended")
            return f"the Job {name} is admitted"

        self.keep(f"the Job {name} takes quota", admitted)

    def keep(self, promise: str, look: Callable[[], str]) -> None:
        """Wait until a promise is kept on which the rest of the scenario builds.

        Args:
            promise: The promise in a few words.
            look: Returns what was seen once the promise is kept, else raises `NotYetError`.

        Raises:
            BrokenPromiseError: It was not kept in time.
        """
        if not self.expect(promise, look, seconds=self._seconds):
            raise BrokenPromiseError(promise)

    def expect(self, promise: str, look: Callable[[], str], *, seconds: float) -> bool:
        """Wait until a promise is kept without which the scenario can go on; returns whether it was.

        Args:
            promise: The promise in a few words.
            look: Returns what was seen once the promise is kept, else raises `NotYetError`.
            seconds: How long to wait.
        """
        try:
            self.find(promise, True, wait_for(promise, look, seconds=seconds))
        except VerificationError as error:
            self.find(promise, False, str(error))
            return False
        return True

    def stay(self, promise: str, look: Callable[[], str], *, seconds: float) -> None:
        """Watch that something stays as it is.

        Args:
            promise: The promise in a few words.
            look: Returns what was seen while the promise is kept, else raises `NotYetError`.
            seconds: How long it has to stay.

        Raises:
            BrokenPromiseError: It did not stay.
        """
        deadline = time.monotonic() + seconds
        seen = ""
        try:
            while time.monotonic() < deadline:
                seen = wait_for(promise, look, seconds=0)
                time.sleep(0.1)
        except VerificationError as error:
            self.find(promise, False, str(error))
            raise BrokenPromiseError(promise) from None
        self.find(promise, True, f"{seen}, for {seconds:.0f} s")

    def find(self, promise: str, held: bool, seen: str, expected: str = "") -> None:
        """Put down what was found of a promise."""
        self.findings.append(Finding(promise, held, seen, expected))
        self.session.trace.add("step", namespace=self.namespace, promise=promise, held=held, seen=seen)


@dataclass(frozen=True)
class Scenario:
    """Something that users do with RayJobs in queues, and what Kueue and KubeRay promise about it.

    Attributes:
        name: Its name, in lower-case words joined by hyphens.
        doc: What happens in it, a sentence.
        expected: What is promised, with the place in the documentation or source that promises it.
        quota: What its queue gives.
        drive: Plays it at a desk.
        exclusive: True where it disturbs others, because it stops Kueue's webhooks or kills the operator.
        kill_at: The write at which the operator is killed, as `kuberay-e2e lifecycle --kill-at` takes it; empty for
            none. Without a position it is `committed`, or `after` where the operator runs in a pod.
        further: True for one of many of the same kind, which runs only when it is named.
    """

    name: str
    doc: str
    expected: str
    quota: Quota
    drive: Callable[[Desk], None]
    exclusive: bool = False
    kill_at: str = ""
    further: bool = False

    def run(self, session: Session, namespace: str, known: Deviations | None = None) -> Verdict:
        """Play it in a namespace that has the queues of `queues.configuration`.

        Args:
            session: A session with operator and Kueue.
            namespace: The namespace; nothing of the scenario is left in it.
            known: Known deviations; default: none.
        """
        started, since = time.monotonic(), len(session.trace.events())
        mode = SIMULATED if session.cluster.simulated_pods else REAL
        fault = self.fault(session)
        with session.access.client() as client, _cleared(client, namespace):
            desk = Desk(session, namespace, client, fault)
            failure = ""
            try:
                self.drive(desk)
            except BrokenPromiseError:
                pass
            except RefusedError as error:
                desk.find("the API server takes the scenario's requests", False, str(error))
            except HarnessError as error:
                failure = str(error)
            lines = evidence.lines(session.trace.events()[since:], namespace)
        seconds = time.monotonic() - started
        if failure:
            findings = tuple(desk.findings)
            return Verdict(
                self.name, State.ERROR, seconds, self.expected, failure, mode, findings=findings, evidence=lines
            )
        return judge(
            self.name,
            desk.findings,
            known if known is not None else Deviations(),
            expected=self.expected,
            seconds=seconds,
            mode=mode,
            evidence=lines,
        )

    def fault(self, session: Session) -> Fault | None:
        """The fault that waits for its write, None for none.

        Raises:
            InputError: It cannot act on the operator of this session.
        """
        if not self.kill_at:
            return None
        usual = "" if "@" in self.kill_at or session.has_gateway else f"@{Position.AFTER}"
        fault = parse(self.kill_at + usual)
        session.check(fault)
        return fault


@contextmanager
def _cleared(client: httpx.Client, namespace: str) -> Iterator[None]:
    """Delete the jobs of a namespace in the end."""
    try:
        yield
    finally:
        for path in ("/apis/ray.io/v1/namespaces/{}/rayjobs", "/apis/batch/v1/namespaces/{}/jobs"):
            client.delete(path.format(namespace), params={"propagationPolicy": "Background"})
