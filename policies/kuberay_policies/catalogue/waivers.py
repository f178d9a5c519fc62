"""The policy on waivers: they end."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.settings import Waiver
from kuberay_policies.stack import Context
from kuberay_policies.targets import Scope


@policy(
    "P500",
    "waiver-current",
    "No waiver has expired",
    family=Family.OPERATIONS,
    scope=Scope.WAIVER,
    severity=Severity.ERROR,
    why="A waiver accepts a finding for a while. After its last day it covers nothing, and stays in the file only to "
    "mislead.",
)
def waiver_current(waiver: Waiver, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare the last day with today."""
    if context.settings.today > waiver.expires:
        yield Problem(
            "expires",
            f"The waiver ({waiver.reason}) expired on {waiver.expires}.",
            "Correct what it accepted and remove it, or give it a new last day with a reason.",
        )
