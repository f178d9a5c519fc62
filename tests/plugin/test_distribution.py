"""What the package and the plugin folder must hold, so that Pulumi's own language host runs both."""

import json
from importlib import resources
from pathlib import Path

import yaml

PLUGIN = Path(__file__).resolve().parents[2] / "components" / "plugin"


def test_the_python_package_says_that_it_has_no_provider_program() -> None:
    """Otherwise Pulumi takes every package called pulumi-… for an SDK, and looks for `pulumi-resource-kuberay`."""
    marker = resources.files("pulumi_kuberay").joinpath("pulumi-plugin.json")
    assert json.loads(marker.read_text()) == {"resource": False}


def test_the_plugin_runs_in_an_environment_of_its_own_that_pulumi_install_makes() -> None:
    """Without the option `virtualenv` that is the folder venv beside PulumiPlugin.yaml, from its requirements."""
    assert yaml.safe_load((PLUGIN / "PulumiPlugin.yaml").read_text()) == {"runtime": "python"}
    [requirement] = (PLUGIN / "requirements.txt").read_text().split("\n")[:1]
    editable, _, folder = requirement.partition(" ")
    assert editable == "-e"
    assert (PLUGIN / folder / "pyproject.toml").read_text().count('name = "pulumi-kuberay"') == 1
