"""What a check found, with places, before it is written in a format."""

from __future__ import annotations

from dataclasses import dataclass, field

from kuberay_policies.evaluation import Report
from kuberay_policies.locations import Locations, Place
from kuberay_policies.policy import Finding, Severity
from kuberay_policies.reading import Inputs
from kuberay_policies.settings import Settings


@dataclass(frozen=True)
class Outcome:
    """A check from its input to its findings.

    Attributes:
        inputs: What was read.
        report: What the policies say.
        settings: Settings of the environment.
    """

    inputs: Inputs
    report: Report
    settings: Settings
    _locations: list[Locations] = field(default_factory=list, repr=False, compare=False)

    @property
    def exit_code(self) -> int:
        """2 if something could not be read, 1 if a finding is an error, 0 otherwise."""
        if self.inputs.problems:
            return 2
        return 1 if self.report.count(Severity.ERROR) else 0

    def place(self, finding: Finding) -> Place | None:
        """Return line and column of a finding, None if it is in no file."""
        if not self._locations:
            self._locations.append(Locations(self.inputs.standard_input))
        return self._locations[0].place(finding.source, finding.path)

    @property
    def summary(self) -> str:
        """One sentence on what was checked and found."""
        report, inputs = self.report, self.inputs
        environment = f" for {self.settings.environment}" if self.settings.environment else ""
        counts = [
            counted(report.count(Severity.ERROR), "error"),
            counted(report.count(Severity.WARNING), "warning"),
            *([f"{len(report.waived)} waived"] if report.waived else []),
            *([f"{counted(len(report.deferred), 'value')} known only at deployment"] if report.deferred else []),
            *([f"{counted(len(inputs.problems), 'input')} unreadable"] if inputs.problems else []),
        ]
        return (
            f"{counted(len(report.subjects), 'object')} in {counted(len(inputs.files), 'file')}, "
            f"{counted(len(report.policies), 'policy')}, KubeRay {self.settings.version}{environment}: "
            f"{', '.join(counts)}."
        )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 policy`, `2 policies`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
