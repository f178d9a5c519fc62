"""Reports as people and programs read them."""

from __future__ import annotations

from collections.abc import Callable

from kuberay_policies.formats import github, sarif, structured, text
from kuberay_policies.formats.outcome import Outcome
from kuberay_policies.output_format import OutputFormat

__all__ = ["Outcome", "render"]


_RENDERERS: dict[OutputFormat, Callable[[Outcome], str]] = {
    OutputFormat.TEXT: text.render,
    OutputFormat.JSON: structured.render,
    OutputFormat.SARIF: sarif.render,
    OutputFormat.GITHUB: github.render,
}


def render(outcome: Outcome, wanted: OutputFormat) -> str:
    """Return a report in a format."""
    return _RENDERERS[wanted](outcome)
