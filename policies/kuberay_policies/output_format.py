"""The formats of a report."""

from enum import StrEnum


class OutputFormat(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
