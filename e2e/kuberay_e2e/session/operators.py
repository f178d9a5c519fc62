"""What a session asks of the operator, wherever it runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from kuberay_e2e.gateway import Fault, Gateway


class Operator(Protocol):
    """The operator of the Deployment that was applied."""

    @property
    def incarnation(self) -> int:
        """Number of the present or last life of the operator; 0 before the first."""
        ...

    @property
    def running(self) -> bool:
        """True while it lives."""
        ...

    def start(self) -> None:
        """Start it, or wait until it has been started, and until its manager is ready.

        Raises:
            HarnessError: It does not become ready.
        """
        ...

    def kill(self) -> None:
        """End it as a crash would, with SIGKILL where there is a way to."""
        ...

    def wait_killed(self) -> None:
        """Wait for the end of an operator that a fault has killed."""
        ...

    def stop(self) -> None:
        """End it as a Deployment scaled to zero would."""
        ...

    def log(self, incarnation: int) -> Path:
        """The log of one of its lives."""
        ...

    def last_lines(self, count: int = 5) -> str:
        """The last lines of its present log."""
        ...


class OperatorHost(Protocol):
    """How the operator of an applied Deployment runs, and how faults reach it."""

    @property
    def gateway(self) -> Gateway | None:
        """Sees the operator's requests; None where the operator reaches the API server by itself."""
        ...

    @property
    def operator(self) -> Operator | None:
        """The operator; None before its first start."""
        ...

    def arguments(self, version: str) -> Mapping[str, Any]:
        """What the Pulumi program is configured with to apply this version, see `operator` in `stacks/`."""
        ...

    def start(self) -> Operator:
        """Start the operator of the Deployment, in the version of its image.

        Raises:
            HarnessError: There is no Deployment, or the operator does not start.
        """
        ...

    def check(self, fault: Fault) -> None:
        """Refuse a fault that cannot act here.

        Raises:
            InputError: It cannot; the message says why and what to use instead.
        """
        ...

    def arm(self, fault: Fault) -> None:
        """Let a fault wait for its write.

        Raises:
            InputError: It cannot act here.
        """
        ...

    def disarm(self, fault: Fault) -> None:
        """Forget a fault, whether it fired or not."""
        ...

    def writes(self) -> list[str]:
        """The operator's writes so far, in the form that `--kill-at` takes."""
        ...

    def keep_log(self) -> None:
        """Keep the present log of an operator whose pod takes it along when it goes."""
        ...
