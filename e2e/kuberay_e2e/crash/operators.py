"""The operators of a run: of any release, alone or electing a leader, behind the gateway of its slot."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kuberay_e2e.gateway import Gateway
from kuberay_e2e.operator_process import OperatorProcess, OperatorSpec
from kuberay_e2e.session import OPERATOR, Session
from kuberay_e2e.session.programs import Programs
from kuberay_e2e.trace import Trace
from kuberay_model.versions import gates

_GATES = "--feature-gates="

ELECTION = "--enable-leader-election=true"


class Operators:
    """Makes operators that look at one namespace, and stops them.

    Args:
        session: The cluster, on which the operator's Deployment is applied.
        programs: The operator's binaries.
        namespace: The namespace that they look at, and keep their Lease in.
        gateway: Carries what they send.
        trace: Receives starts and ends.
        folder: Receives their logs.
    """

    def __init__(
        self, session: Session, programs: Programs, namespace: str, gateway: Gateway, trace: Trace, folder: Path
    ) -> None:
        self._session = session
        self._programs = programs
        self._namespace = namespace
        self._gateway = gateway
        self._trace = trace
        self._folder = folder
        self._made: list[OperatorProcess] = []
        self._applied = OperatorSpec.read(session.access, session.operator_namespace, OPERATOR)

    def make(self, version: str = "", *, election: bool = False) -> OperatorProcess:
        """An operator that is not started yet.

        Args:
            version: Its release; default: that of the Deployment.
            election: Whether it works only while it holds the Lease.

        Raises:
            HarnessError: There is no binary of that release.
        """
        arguments = [ELECTION, f"--leader-election-namespace={self._namespace}"] if election else []
        spec = self._spec(version, arguments)
        operator = OperatorProcess(
            self._programs.operator(spec.version),
            spec,
            self._session.access,
            self._gateway,
            self._session.engine,
            self._folder,
            self._session.run.marker,
            self._trace,
        )
        self._made.append(operator)
        return operator

    def upgrade(self, operator: OperatorProcess) -> None:
        """Let the next start of an operator be of the Deployment's release."""
        spec = self._spec("", ())
        operator.roll(self._programs.operator(spec.version), spec)

    def stop(self) -> None:
        """Stop all."""
        for operator in self._made:
            operator.stop()

    def _spec(self, version: str, arguments: Sequence[str]) -> OperatorSpec:
        spec = of_release(self._applied, version) if version else self._applied
        return replace(spec, args=(*spec.args, f"--watch-namespace={self._namespace}", *arguments))


def of_release(applied: OperatorSpec, version: str) -> OperatorSpec:
    """The Deployment as it is for another release: each has feature gates of its own, and ends on one that it lacks."""
    rendered = f"{_GATES}{','.join(map(str, gates(version)))}"
    args = tuple(rendered if arg.startswith(_GATES) else arg for arg in applied.args)
    return replace(applied, version=version, args=args)
