"""What KubeRay would say about a RayJob or a RayCluster, said at preview."""

from collections.abc import Mapping
from typing import Any

from kuberay_model.rules import Finding, Severity, validate
from kuberay_model.versions import Version
from pulumi_kuberay.errors import ArgumentError

_NOT_FOR_A_RAY_CLUSTER = frozenset({"C25", "J29"})
"""Rules on the RayCluster of a RayJob that do not hold for one of its own."""

_NOT_CHECKED = "X0"
"""Says that the schema of a release is not known here, which the API server tells better than a preview."""

_CLUSTER_PATH = "spec.rayClusterSpec"


def release(version: str) -> Version:
    """Read the release of an operator.

    Raises:
        ArgumentError: It is not three numbers.
    """
    try:
        return Version.parse(version)
    except ValueError as error:
        raise ArgumentError(str(error)) from error


def ray_job_findings(manifest: Mapping[str, Any], version: str, gates: Mapping[str, bool]) -> list[str]:
    """Return what is questionable about a RayJob that the operator would still run.

    Args:
        manifest: The RayJob, with every value known.
        version: Release of the operator.
        gates: Feature gates of the operator that differ from the defaults of that release.

    Raises:
        ArgumentError: The RayJob cannot work as written; the message has a line for every reason. Or the
            release or a gate is unknown.
    """
    found = _found(manifest, version, gates)
    errors = [str(finding) for finding in found if finding.severity is Severity.ERROR]
    _refuse("RayJob", manifest, version, errors)
    return [str(finding) for finding in found]


def ray_cluster_findings(manifest: Mapping[str, Any], version: str, gates: Mapping[str, bool]) -> list[str]:
    """Return what is questionable about a RayCluster. See `ray_job_findings`.

    The rules on the RayCluster of a RayJob are applied, because the operator has one set of them for both.
    """
    job = {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": "ray-cluster"},
        "spec": {"entrypoint": "python", "rayClusterSpec": manifest["spec"]},
    }
    found = [
        finding
        for finding in _found(job, version, gates)
        if finding.path.startswith(_CLUSTER_PATH) and finding.id not in _NOT_FOR_A_RAY_CLUSTER
    ]
    sentences = {id(finding): str(finding).replace(_CLUSTER_PATH, "spec", 1) for finding in found}
    errors = [sentences[id(finding)] for finding in found if finding.severity is Severity.ERROR]
    _refuse("RayCluster", manifest, version, errors)
    return list(sentences.values())


def _found(manifest: Mapping[str, Any], version: str, gates: Mapping[str, bool]) -> list[Finding]:
    try:
        found = validate(manifest, version=version.removeprefix("v"), gates=gates)
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
    return [finding for finding in found if finding.id != _NOT_CHECKED]


def _refuse(kind: str, manifest: Mapping[str, Any], version: str, errors: list[str]) -> None:
    if errors:
        name = manifest["metadata"].get("name")
        head = f"The {kind} {name!r} cannot work on KubeRay {version}."
        raise ArgumentError("\n".join([head, *(f"- {error}" for error in errors)]))
