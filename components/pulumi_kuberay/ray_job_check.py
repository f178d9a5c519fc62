"""What KubeRay would say about a RayJob, said at preview."""

import inspect
from collections.abc import Mapping
from typing import Any

import pulumi

from kuberay_model.rules import Finding, Severity, validate
from pulumi_kuberay.errors import ArgumentError


def findings(manifest: Mapping[str, Any], version: str, gates: Mapping[str, bool]) -> list[Finding]:
    """Return what is questionable about a RayJob that the operator would still run.

    Args:
        manifest: The RayJob, with every value known.
        version: Release of the operator.
        gates: Feature gates of the operator that differ from the defaults of that release.

    Raises:
        ArgumentError: The RayJob cannot work as written; the message has a line for every reason. Or the
            release or a gate is unknown.
    """
    try:
        found = validate(manifest, version=version.removeprefix("v"), gates=gates)
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if errors:
        name = manifest["metadata"].get("name")
        raise ArgumentError(
            "\n".join(
                [
                    f"The RayJob {name!r} cannot work on KubeRay {version}.",
                    *(f"- {error}" for error in errors),
                ]
            )
        )
    return found


def has_outputs(value: object) -> bool:
    """Tell whether a value holds something that is known only while Pulumi runs."""
    if isinstance(value, Mapping):
        return any(has_outputs(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(has_outputs(item) for item in value)
    return isinstance(value, pulumi.Output) or inspect.isawaitable(value)
