"""What a check finds in a rendered folder."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """What a finding means for the check."""

    ERROR = "error"
    """The check fails."""

    WARNING = "warning"
    """It is told, and the check passes."""


@dataclass(frozen=True, order=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        file: The file, relative to the rendered folder.
        line: Line, counted from 1; 0 for the whole file.
        rule: Name of the rule, or the id of a policy.
        message: The object, what is wrong and what to do, in sentences.
        severity: What it means.
        path: Where in the object; empty for the whole object.
    """

    file: str
    line: int
    rule: str
    message: str
    severity: Severity = Severity.ERROR
    path: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity} [{self.rule}] {self.message}"
