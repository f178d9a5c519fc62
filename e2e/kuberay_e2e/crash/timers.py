"""The timers of a scenario: each begins at a write, and its operator is kept away until it has run out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

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

_MADE = ("create:Pod~*-worker-*",)
_RUNNING = ("update:RayJob/status~*:jobDeploymentStatus=Running*",)
_SUBMITTED = ("submit:RayJobs*",)
_OVER = (
    "update:RayJob/status~*:jobDeploymentStatus=Complete*",
    "update:RayJob/status~*:jobDeploymentStatus=Failed*",
)


@dataclass(frozen=True)
class Timer:
    """Something that falls due while nobody looks.

    Attributes:
        name: What sets it.
        away: Seconds for which the operator is to stay away.
        begins: Patterns of the writes after which all goes on without the operator; the first of them counts.
    """

    name: str
    away: float
    begins: tuple[str, ...]

    def begun_by(self, write: WriteSelector) -> bool:
        """True for a write of its patterns."""
        return any(fnmatchcase(str(write), pattern) for pattern in self.begins)


def timers(scenario: Scenario) -> Sequence[Timer]:
    """The timers of a scenario, read from its RayJob."""
    spec = scenario.spec
    found: list[tuple[str, float, tuple[str, ...]]] = []
    if scenario.mode in ("K8sJobMode", "SidecarMode") and scenario.script[0].duration < SUBMITTER_GRACE:
        seconds = scenario.script[0].duration + _SUBMISSION + SUBMITTER_GRACE
        found.append(("end of the submitter", seconds, _RUNNING))
    if pre_running := spec.get("preRunningDeadlineSeconds"):
        found.append(("preRunningDeadlineSeconds", float(pre_running), _MADE))
    if active := spec.get("activeDeadlineSeconds"):
        begins = _SUBMITTED if scenario.mode == "HTTPMode" else _RUNNING
        found.append(("activeDeadlineSeconds", float(active), begins))
    if spec.get("shutdownAfterJobFinishes"):
        found.append(("ttlSecondsAfterFinished", float(spec.get("ttlSecondsAfterFinished", 0)), _OVER))
    if rules := (spec.get("deletionStrategy") or {}).get("deletionRules"):
        last = max(float(rule["condition"].get("ttlSeconds", 0)) for rule in rules)
        found.append(("deletionRules", last, _OVER))
    return [Timer(name, math.ceil(seconds + _MARGIN), begins) for name, seconds, begins in found if seconds <= _LONGEST]
