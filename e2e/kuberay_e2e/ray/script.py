"""What a simulated job does: how long it takes, how it ends, and what it prints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal

End = Literal["SUCCEEDED", "FAILED", "STOPPED"]


@dataclass(frozen=True)
class JobSpec:
    """A submission as a script is chosen by it.

    Attributes:
        submission_id: Ray's submission id.
        entrypoint: The command as submitted.
        attempt: How many jobs this back end accepted before, over all heads: 0 for the first. A RayJob
            that is retried gets a new head and submission id; this tells its attempts apart.
    """

    submission_id: str
    entrypoint: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    runtime_env: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 0


@dataclass(frozen=True)
class Script:
    """The course of a simulated job.

    Attributes:
        duration: Seconds from RUNNING to the end.
        pending: Seconds in PENDING before that.
        end: The terminal status it reaches unless it is stopped before.
        output: Lines it prints when it starts to run.
        exit_code: Exit code of the entrypoint; default: 0 for SUCCEEDED, 1 for FAILED, none for STOPPED.
        until: The job runs on until this is set; default: its duration alone decides.
        failed_submitters: How many submitter Pods fail, before they ask Ray for anything, until one submits this job.
    """

    duration: float = 3.0
    pending: float = 0.0
    end: End = "SUCCEEDED"
    output: Sequence[str] = ()
    exit_code: int | None = None
    until: Event | None = None
    failed_submitters: int = 0

    @property
    def code(self) -> int | None:
        """Exit code of the entrypoint; None where it was stopped."""
        return {"SUCCEEDED": 0, "FAILED": 1, "STOPPED": None}[self.end] if self.exit_code is None else self.exit_code


ScriptChoice = Callable[[JobSpec], Script]


def always(script: Script) -> ScriptChoice:
    """The same script for every job."""
    return lambda _: script
