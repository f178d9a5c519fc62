"""All checks of a rendered folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e.gitops import drift_check, naming_check, one_shot_check, order_check, policy_check, prune_check
from kuberay_e2e.gitops import schema_check as schema
from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.tree import Tree


@dataclass(frozen=True)
class Choices:
    """How a folder is checked.

    Attributes:
        config: Settings file of the policies; None for the usual one.
        environment: Environment of that file; empty for the one with the stack's name.
        crds: Files and folders with CRDs of kinds that the folder does not define.
    """

    config: Path | None = None
    environment: str = ""
    crds: Sequence[Path] = ()


def check(tree: Tree, choices: Choices) -> list[Finding]:
    """Return what is wrong with a rendered folder, by file; nothing twice.

    Raises:
        InputError: The settings or the CRDs cannot be used.
    """
    settings = policy_check.chosen_settings(tree, choices.config, choices.environment)
    known = schema.definitions(tree, choices.crds, settings.version)
    own = [
        *naming_check.findings(tree),
        *schema.findings(tree, known),
        *order_check.findings(tree),
        *prune_check.findings(tree),
        *one_shot_check.findings(tree),
        *drift_check.findings(tree),
    ]
    told = {(finding.file, finding.path) for finding in own if finding.rule == schema.RULE and finding.path}
    policies = [
        finding for finding in policy_check.findings(tree, settings) if (finding.file, finding.path) not in told
    ]
    return sorted({*own, *policies})


def failed(findings: Sequence[Finding]) -> bool:
    """Tell whether a finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
