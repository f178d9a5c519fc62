"""Versions are ordered as releases are, and each knows its own feature gates."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kuberay_model.versions import (
    DEFAULT,
    SUPPORTED,
    UnknownGateError,
    UnsupportedVersionError,
    Version,
    gates,
    supported,
)

from .upstream import operator_source


def test_versions_are_ordered_as_releases_are() -> None:
    assert list(SUPPORTED) == sorted(SUPPORTED)
    assert Version(1, 10, 0) > Version(1, 9, 9) > Version(1, 9)
    assert str(Version.parse("v1.6.2")) == "1.6.2"
    assert supported() == DEFAULT == Version(1, 6, 2)


@pytest.mark.parametrize("text", ["", "1.6", "1.6.2-rc.0", "latest", "1.6.2.1"])
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedVersionError, match="three numbers"):
        Version.parse(text)


def test_an_unsupported_version_is_refused_with_the_supported_ones() -> None:
    with pytest.raises(
        UnsupportedVersionError, match=r"1\.4\.2 is not supported: use one of 1\.5\.1, 1\.5\.2, 1\.6\.2 and"
    ):
        supported("1.4.2")


def test_all_gates_are_listed_with_their_defaults() -> None:
    assert [str(gate) for gate in gates("1.5.2")] == [
        "RayClusterStatusConditions=true",
        "RayJobDeletionPolicy=false",
        "RayMultiHostIndexing=false",
        "RayServiceIncrementalUpgrade=false",
    ]
    assert len(gates("1.7.0")) == 11


def test_an_override_changes_one_gate_and_keeps_the_others() -> None:
    changed = gates("1.6.2", {"RayCronJob": True})
    assert {gate.name for gate in changed if gate.enabled != gate.default} == {"RayCronJob"}
    assert [gate.name for gate in changed] == [gate.name for gate in gates("1.6.2")]


@pytest.mark.parametrize(
    ("version", "gate", "hint"),
    [
        ("1.7.0", "AsyncJobInfoQuery", r"it exists in 1\.6\.2"),
        ("1.6.2", "SidecarSubmitterRestart", r"it exists in 1\.7\.0"),
        ("1.6.2", "RayJobDeletionPolicies", r"did you mean RayJobDeletionPolicy\?"),
        ("1.6.2", "Whatever", r"known gates are .* and AsyncJobInfoQuery\."),
    ],
)
def test_an_unknown_gate_is_refused_because_the_operator_would_exit(version: str, gate: str, hint: str) -> None:
    with pytest.raises(UnknownGateError, match=f"no feature gate '{gate}', and its operator exits.*{hint}"):
        gates(version, {gate: True})


def test_a_gate_is_a_bool() -> None:
    with pytest.raises(TypeError, match="'true' was given"):
        gates("1.6.2", {"RayCronJob": "true"})  # type: ignore[dict-item]


def test_gates_of_the_default_version_equal_those_of_its_source() -> None:
    source = (operator_source() / "pkg/features/features.go").read_text()
    upstream = {
        name: default == "true"
        for name, default in re.findall(r"^\t(\w+): +\{Default: (true|false)", source, re.MULTILINE)
    }
    assert {gate.name: gate.default for gate in gates()} == upstream


def test_importing_the_rules_loads_no_pulumi() -> None:
    check = (
        "import sys, kuberay_model.rules, kuberay_model.manifests, kuberay_model.outcome;"
        "sys.exit(any(name.split('.')[0] in ('pulumi', 'grpc', 'ray') for name in sys.modules))"
    )
    folder = Path(__file__).parents[2] / "components"
    subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {check}"], check=True
    )
