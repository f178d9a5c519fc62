"""Supported KubeRay operator versions and the feature gates that each of them knows.

Source: `ray-operator/pkg/features/features.go` of each tag. A gate unknown to a version makes its operator
exit at start, so gates are always checked against one version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kuberay_model.sentences import listed, nearest

Stage = Literal["alpha", "beta"]

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


class UnsupportedVersionError(ValueError):
    """A KubeRay version this package knows no facts about."""


class UnknownGateError(ValueError):
    """A feature gate that the operator of this version does not know, and on which it would exit."""


@dataclass(frozen=True, order=True)
class Version:
    """A KubeRay release, ordered as releases are.

    Attributes:
        major: First number of the release.
        minor: Second number; rules and gates change here.
        patch: Third number.
    """

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `1.6.2` or `v1.6.2`.

        Raises:
            UnsupportedVersionError: The text is not three numbers separated by dots.
        """
        if match := _VERSION.fullmatch(text.strip()):
            return cls(*(int(number) for number in match.groups()))
        raise UnsupportedVersionError(f"A KubeRay version is three numbers such as {DEFAULT}, but {text!r} was given.")

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


DEFAULT = Version(1, 6, 2)
"""The version used when none is given."""

SUPPORTED = (Version(1, 5, 1), Version(1, 5, 2), Version(1, 6, 2), Version(1, 7, 0))
"""Every version with known rules and gates, oldest first."""


@dataclass(frozen=True)
class Gate:
    """A feature gate of one operator version.

    Attributes:
        name: Name as the operator's `--feature-gates` flag takes it.
        enabled: Whether the feature is on.
        default: Whether this version turns the feature on by itself.
        stage: `alpha` or `beta` in this version.
    """

    name: str
    enabled: bool
    default: bool
    stage: Stage

    def __str__(self) -> str:
        return f"{self.name}={'true' if self.enabled else 'false'}"


_ON: tuple[bool, Stage] = (True, "beta")
_OFF: tuple[bool, Stage] = (False, "alpha")

_GATES_1_5: Mapping[str, tuple[bool, Stage]] = {
    "RayClusterStatusConditions": _ON,
    "RayJobDeletionPolicy": _OFF,
    "RayMultiHostIndexing": _OFF,
    "RayServiceIncrementalUpgrade": _OFF,
}
_GATES: Mapping[Version, Mapping[str, tuple[bool, Stage]]] = {
    Version(1, 5, 1): _GATES_1_5,
    Version(1, 5, 2): _GATES_1_5,
    Version(1, 6, 2): {
        "RayClusterStatusConditions": _ON,
        "RayJobDeletionPolicy": _ON,
        "RayMultiHostIndexing": _ON,
        "RayServiceIncrementalUpgrade": _OFF,
        "RayCronJob": _OFF,
        "AsyncJobInfoQuery": _OFF,
    },
    Version(1, 7, 0): {
        "RayClusterStatusConditions": _ON,
        "RayJobDeletionPolicy": _ON,
        "RayMultiHostIndexing": _ON,
        "RayServiceIncrementalUpgrade": _ON,
        "RayCronJob": _OFF,
        "SidecarSubmitterRestart": _OFF,
        "RayClusterNetworkPolicy": _OFF,
        "GCSFaultToleranceEmbeddedStorage": _OFF,
        "RayClusterMTLS": _OFF,
        "RayClusterHistoryServer": _OFF,
        "KubernetesWAS": _OFF,
    },
}


def supported(version: Version | str = DEFAULT) -> Version:
    """Return the version if its rules and gates are known.

    Args:
        version: A `Version`, or text such as `1.6.2` or `v1.6.2`.

    Raises:
        UnsupportedVersionError: Not one of `SUPPORTED`.
    """
    parsed = Version.parse(version) if isinstance(version, str) else version
    if parsed in SUPPORTED:
        return parsed
    raise UnsupportedVersionError(
        f"KubeRay {parsed} is not supported: use one of {listed(str(known) for known in SUPPORTED)}."
    )


def gates(version: Version | str = DEFAULT, overrides: Mapping[str, bool] | None = None) -> tuple[Gate, ...]:
    """Return every feature gate of a version, with the overrides applied.

    The full list is returned because Helm replaces lists instead of merging them: a values file with one gate
    takes the other gates back to their built-in defaults.

    Args:
        version: One of `SUPPORTED`. Default 1.6.2.
        overrides: Gate name to on or off.

    Raises:
        UnsupportedVersionError: Not one of `SUPPORTED`.
        UnknownGateError: An override names a gate this version does not have.
        TypeError: An override is not a bool.
    """
    release = supported(version)
    known = _GATES[release]
    wanted = overrides or {}
    for name, enabled in wanted.items():
        if name not in known:
            raise UnknownGateError(_unknown(name, release))
        if not isinstance(enabled, bool):
            raise TypeError(f"The feature gate {name} is on (True) or off (False), but {enabled!r} was given.")
    return tuple(
        Gate(name, enabled=wanted.get(name, default), default=default, stage=stage)
        for name, (default, stage) in known.items()
    )


def _unknown(name: str, release: Version) -> str:
    known = _GATES[release]
    elsewhere = [str(version) for version, names in _GATES.items() if name in names]
    if elsewhere:
        hint = f"it exists in {listed(elsewhere)}: remove it, or install such an operator"
    elif similar := nearest(name, known):
        hint = f"did you mean {similar}?"
    else:
        hint = f"known gates are {listed(known)}"
    return (
        f"KubeRay {release} has no feature gate {name!r}, and its operator exits at start "
        f"when it is given one it does not know; {hint.rstrip('?')}{'?' if hint.endswith('?') else '.'}"
    )
