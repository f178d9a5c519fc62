"""A scenario: one fault, done to one RayJob, and what came of it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kuberay_e2e.clusterfaults import expectations
from kuberay_e2e.clusterfaults.trial import Trial
from kuberay_e2e.clusterfaults.workload import Load, Mode
from kuberay_e2e.deviations import Deviations, judge
from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.operator_process import OperatorSpec
from kuberay_e2e.session import OPERATOR, Session
from kuberay_e2e.verdicts import Finding, State, Verdict

Act = Callable[[Trial], Sequence[Finding]]
"""Waits for the right moment, strikes, and says what it found of promises of its own."""


class Group(StrEnum):
    """What a fault reaches, in the order in which groups run."""

    NAMESPACE = "one namespace"
    OPERATOR = "the operator"
    LEADER = "the operator's replicas"
    API_SERVER = "the API server"


@dataclass(frozen=True)
class Scenario:
    """One fault in one submission mode.

    Attributes:
        name: Its name, in lower-case words joined by hyphens.
        doc: What is done, a sentence.
        load: The RayJob.
        act: Does it.
        patience: How long the RayJob's end is waited for after the fault, seconds.
        group: What the fault reaches. Scenarios of one group may run side by side; groups run one after the other.
        nodes: How many nodes it needs.
    """

    name: str
    doc: str
    load: Load
    act: Act
    patience: float = 150.0
    group: Group = Group.NAMESPACE
    nodes: int = 1

    @property
    def mode(self) -> Mode:
        """How the job is submitted."""
        return self.load.mode

    @property
    def title(self) -> str:
        """Name and mode, such as `head-pod-killed[HTTPMode]`."""
        return f"{self.name}[{self.mode}]"

    def run(self, session: Session, namespace: str) -> Verdict:
        """Do it, and judge what came of it; nothing is left in the namespace but the namespace itself.

        Args:
            session: A session on a cluster with access to its nodes, the operator installed.
            namespace: A namespace of the scenario's own.
        """
        version = OperatorSpec.read(session.access, session.operator_namespace, OPERATOR).version
        expectation = expectations.of(version, self.name, self.mode)
        expected = f"{expectation.sentence} Source: {expectation.source}."
        trial = Trial(session, namespace)
        started = time.monotonic()
        try:
            with trial.rayjob(self.load):
                findings = list(self.act(trial))
                if expectation.ends:
                    trial.wait_end(self.patience)
                findings += trial.findings(expectation)
                trial.delete()
                findings.append(trial.cleanup_finding())
        except (HarnessError, VerificationError) as error:
            seconds = time.monotonic() - started
            return Verdict(self.name, State.ERROR, seconds, expected, str(error), self.mode, evidence=trial.kept)
        return judge(
            self.name,
            findings,
            Deviations.of(kuberay=version),
            expected=expected,
            seconds=time.monotonic() - started,
            mode=self.mode,
            evidence=trial.kept,
        )
