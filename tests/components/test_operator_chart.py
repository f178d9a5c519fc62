"""The typed arguments against the values of every supported version of the operator's chart.

The chart of the pinned version comes with the operator's program. Those of the other versions are looked for in the
folder that KUBERAY_CHART_VALUES names, as ``kuberay-operator-values-<version>.yaml``.
"""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart_arguments import argument_of, leaves, states, typed_arguments

from kuberay_model.versions import DEFAULT, SUPPORTED, Version
from kuberay_toolchain import Toolchain
from pulumi_kuberay import KubeRayOperatorArgs
from pulumi_kuberay.operator_checks import BEFORE_VERSION, SINCE_VERSION
from pulumi_kuberay.operator_values import operator_values

PINNED_FILES = Toolchain().entry(Toolchain().select("kuberay-operator")) / "files"

SAID_DIFFERENTLY = {
    "batchScheduler.enabled": "deprecated by the chart for batchScheduler.name",
    "configuration.enabled": "true when there is a configuration",
    "rbacEnable": "part of rbac",
    "crNamespacedRbacEnable": "part of rbac",
    "singleNamespaceInstall": "part of rbac",
}
"""Values without an argument of their own."""

IN_WORDS = {
    "configuration.enabled": "default: nothing",
    "image.tag": "``v`` and the operator's version",
    "featureGates": "all gates of the version are always rendered",
    "resources.limits.cpu": "limits of 100m cpu",
    "resources.limits.memory": "512mi memory, no requests",
    "securityContext.allowPrivilegeEscalation": "no privilege escalation",
    "securityContext.readOnlyRootFilesystem": "read-only root file system",
    "securityContext.capabilities.drop": "no capabilities",
    "securityContext.runAsNonRoot": "not root",
    "securityContext.seccompProfile.type": "seccomp runtimedefault",
}
"""Defaults that a docstring says in words instead of by their value."""


def chart_values(version: Version) -> dict[str, Any] | None:
    candidates = [Path(folder) / f"kuberay-operator-values-{version}.yaml" for folder in _extra_folders()]
    if version == DEFAULT:
        candidates.append(PINNED_FILES / "chart" / "values.yaml")
    for candidate in candidates:
        if candidate.is_file():
            values: dict[str, Any] = yaml.safe_load(candidate.read_text(encoding="utf-8"))
            return values
    return None


def _extra_folders() -> list[str]:
    folder = os.environ.get("KUBERAY_CHART_VALUES")
    return [folder] if folder else []


@pytest.fixture(params=SUPPORTED, ids=str)
def version(request: pytest.FixtureRequest) -> Version:
    known: Version = request.param
    return known


@pytest.fixture
def chart(version: Version) -> dict[str, Any]:
    values = chart_values(version)
    if values is None:
        pytest.skip(f"The chart of {version} is not on this machine.")
    return values


TYPED = dict(typed_arguments(KubeRayOperatorArgs))


def test_every_value_of_the_chart_has_an_argument_or_a_reason(chart: dict[str, Any]) -> None:
    missing = [
        place for place, _ in leaves(chart) if argument_of(place, TYPED) is None and place not in SAID_DIFFERENTLY
    ]

    assert missing == []


def test_every_argument_is_a_value_of_the_chart_or_of_other_versions_only(
    chart: dict[str, Any], version: Version
) -> None:
    unlisted = {"useKubernetesProxy", "watchNamespace", "resources.requests"}
    """Values that the file has in a comment."""
    known = {place for place, _ in leaves(chart)}
    parents = {place.rsplit(".", depth)[0] for place in known for depth in range(1, 4)}
    absent = {place for place in TYPED if place not in known | parents | unlisted}

    other = {place for place, since in SINCE_VERSION.items() if version < since}
    other |= {place for place, (before, _) in BEFORE_VERSION.items() if version >= before}
    assert absent == other


def test_docstrings_state_the_defaults_of_the_chart(chart: dict[str, Any]) -> None:
    wrong = {}
    for place, default in leaves(chart):
        argument = argument_of(place, TYPED) or place.rpartition(".")[0]
        if place in SAID_DIFFERENTLY and place not in IN_WORDS:
            continue
        stated = TYPED[argument] if argument != "resources.limits" else TYPED["resources"]
        said = IN_WORDS[place] in stated if place in IN_WORDS else states(stated, default)
        if not said:
            wrong[place] = (default, stated)

    assert wrong == {}


def test_no_arguments_change_nothing_about_the_chart_but_the_list_of_gates(
    chart: dict[str, Any], version: Version
) -> None:
    values = operator_values(KubeRayOperatorArgs(version=str(version)))

    assert {key: chart["image"][key] for key in values["image"]} == values["image"]
    listed = {gate["name"]: gate["enabled"] for gate in chart["featureGates"]}
    rendered = {gate["name"]: gate["enabled"] for gate in values["featureGates"]}
    assert {name: rendered[name] for name in listed} == listed
    assert not any(rendered[name] for name in rendered.keys() - listed.keys())
    assert values.keys() == {"image", "featureGates"}
