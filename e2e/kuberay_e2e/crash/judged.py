"""What a run that was judged comes to."""

from kuberay_e2e.verdicts import Finding


class Judged:
    """A run with what the oracles found of it.

    Attributes:
        findings: What each oracle found; empty where the run itself failed.
        error: Why there is nothing to judge; empty where there is.
    """

    findings: tuple[Finding, ...]
    error: str

    @property
    def broken(self) -> list[Finding]:
        """The promises that were not kept."""
        return [finding for finding in self.findings if not finding.held]

    @property
    def held(self) -> bool:
        """True where the run could be judged and every promise was kept."""
        return not self.error and not self.broken
