"""What the operator says to RayJobs: its own validation, asked over lines of JSON without a cluster."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Question = tuple[Mapping[str, Any], Mapping[str, bool]]
"""A RayJob as the API server stores it, and the feature gates that differ from the defaults."""


@dataclass(frozen=True)
class Verdict:
    """An answer of `kuberay-validation`; all fields are empty if the RayJob and its RayCluster are accepted.

    Attributes:
        decode: Why the question is no RayJob.
        panic: What the operator panicked with.
        error: The message of ValidationFailed.
        type: The type of the event that comes with it.
        construct: Why no RayCluster can be made.
        cluster: The error of the RayCluster controller.
    """

    decode: str = ""
    panic: str = ""
    error: str = ""
    type: str = ""
    construct: str = ""
    cluster: str = ""


class Operator:
    """The running program, one question after the other.

    Args:
        program: `kuberay-validation`.
    """

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, job: Mapping[str, Any], gates: Mapping[str, bool]) -> Verdict:
        """Ask one question."""
        (verdict,) = self.ask_all([(job, gates)])
        return verdict

    def ask_all(self, questions: Iterable[Question]) -> Iterator[Verdict]:
        """Ask questions one by one."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None and answered is not None
        for job, gates in questions:
            asked.write(json.dumps({"gates": gates, "job": job}).encode() + b"\n")
            asked.flush()
            yield Verdict(**json.loads(answered.readline()))

    def close(self) -> None:
        """End the program."""
        self._process.communicate()
