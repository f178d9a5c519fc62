"""What policies are checked with: versions, gates, severities, parameters and waivers of one environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property

from kuberay_model.schemas import Schema
from kuberay_model.versions import DEFAULT, Version
from kuberay_model.versions import gates as all_gates
from kuberay_policies.policy import Finding, Parameters, Policy, Severity
from kuberay_policies.subjects import Source, Subject

KUEUE_DEFAULT = Version(0, 17, 8)
"""The Kueue version used when none is given."""


@dataclass(frozen=True)
class Waiver:
    """A finding that is accepted for a while.

    Attributes:
        policies: Ids of the policies.
        targets: Objects as `Kind namespace/name` or Pulumi URNs; `*` stands for any text.
        reason: Why it is accepted.
        expires: Last day on which it holds.
        source: Where it is written.
    """

    policies: tuple[str, ...]
    targets: tuple[str, ...]
    reason: str
    expires: date
    source: Source = field(default_factory=Source)

    def names(self, policy: Policy, subject: Subject) -> bool:
        """Tell whether the waiver is about this policy and this object, expired or not."""
        return policy.id in self.policies and any(
            fnmatchcase(subject.title, target) or fnmatchcase(subject.source.urn or "", target)
            for target in self.targets
        )

    def covers(self, finding: Finding, today: date) -> bool:
        """Tell whether the waiver holds today for the finding."""
        return today <= self.expires and self.names(finding.policy, finding.subject)


@dataclass(frozen=True)
class Settings:
    """The settings of one environment.

    Attributes:
        environment: Its name; empty if the settings are not of one environment.
        version: KubeRay version that runs the objects. Default 1.6.2.
        gate_overrides: Feature gates of the operator that differ from the defaults of that version.
        kueue_version: Kueue version. Default 0.17.8.
        severities: Severity by policy id where it differs from that of the policy.
        parameters: Parameters by policy id where they differ from the defaults.
        waivers: Accepted findings.
        schema: Schema of the CRDs of the cluster; None for that of the version.
        today: The day against which waivers expire.
    """

    environment: str = ""
    version: Version = DEFAULT
    gate_overrides: Mapping[str, bool] = field(default_factory=dict)
    kueue_version: Version = KUEUE_DEFAULT
    severities: Mapping[str, Severity] = field(default_factory=dict)
    parameters: Mapping[str, Parameters] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    schema: Schema | None = None
    today: date = field(default_factory=date.today)

    @cached_property
    def gates(self) -> dict[str, bool]:
        """Every feature gate of the version, on or off.

        Raises:
            UnsupportedVersionError: The version has no known gates.
            UnknownGateError: An override names a gate the version does not have.
        """
        return {gate.name: gate.enabled for gate in all_gates(self.version, self.gate_overrides)}

    def severity(self, policy: Policy) -> Severity:
        """Return the severity of a policy."""
        return self.severities.get(policy.id, policy.severity)

    def parameters_of(self, policy: Policy) -> Parameters:
        """Return the parameters of a policy, the defaults if none are set."""
        return self.parameters.get(policy.id) or policy.parameters()
