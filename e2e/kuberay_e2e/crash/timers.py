"""The timers of a scenario: each begins at a write, and its operator is kept away until it has run out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kuberay_e2e.crash.scenario import Scenario
from kuberay_e2e.gateway import WriteSelector

SUBMITTER_GRACE = 30.0
"""Seconds from the end of the submitter after which KubeRay 1.6 fails a RayJob (DefaultSubmitterFinishedTimeout)."""

_SUBMISSION = 5.0
"""Seconds that a submitter pod takes before its job runs."""

_MARGIN = 5.0
"""Seconds that the operator stays away beyond a timer; KubeRay's own buffer for a TTL is 2 s."""

_LONGEST = 45.0
"""Timers that are longer are not waited for."""

_STARTED, _RUNNING = "jobDeploymentStatus=Initializing", "jobDeploymentStatus=Running"
_OVER = ("jobDeploymentStatus=Complete", "jobDeploymentStatus=Failed")


@dataclass(frozen=True)
class Timer:
    """Something that falls due while nobody looks.

    Attributes:
        name: What sets it.
        away: Seconds for which the operator is to stay away.
        begins: Changes of the RayJob's status at which it begins; the first that is written counts.
    """

    name: str
    away: float
    begins: tuple[str, ...]

    def begun_by(self, write: WriteSelector) -> bool:
        """True for the write with which it begins."""
        return write.kind == "RayJob" and any(change in self.begins for change in write.change.split(","))


def timers(scenario: Scenario) -> Sequence[Timer]:
    """The timers of a scenario, read from its RayJob."""
    spec = scenario.spec
    found: list[tuple[str, float, tuple[str, ...]]] = []
    if scenario.mode in ("K8sJobMode", "SidecarMode") and scenario.script[0].duration < SUBMITTER_GRACE:
        seconds = scenario.script[0].duration + _SUBMISSION + SUBMITTER_GRACE
        found.append(("end of the submitter", seconds, (_RUNNING,)))
    if seconds := spec.get("preRunningDeadlineSeconds"):
        found.append(("preRunningDeadlineSeconds", float(seconds), (_STARTED,)))
    if seconds := spec.get("activeDeadlineSeconds"):
        found.append(("activeDeadlineSeconds", float(seconds), (_RUNNING,)))
    if spec.get("shutdownAfterJobFinishes"):
        found.append(("ttlSecondsAfterFinished", float(spec.get("ttlSecondsAfterFinished", 0)), _OVER))
    if rules := (spec.get("deletionStrategy") or {}).get("deletionRules"):
        last = max(float(rule["condition"].get("ttlSeconds", 0)) for rule in rules)
        found.append(("deletionRules", last, _OVER))
    return [Timer(name, math.ceil(seconds + _MARGIN), begins) for name, seconds, begins in found if seconds <= _LONGEST]
