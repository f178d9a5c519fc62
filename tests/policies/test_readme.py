"""The settings file that the README shows is accepted."""

from __future__ import annotations

import re
from pathlib import Path

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.front_ends import counts
from kuberay_policies.settings_file import load

README = Path(__file__).parents[2] / "policies" / "README.md"


def test_the_settings_of_the_readme_are_accepted(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", README.read_text(), re.DOTALL)
    (shown,) = [block for block in blocks if "kuberayVersion" in block]
    file = tmp_path / "kuberay-policies.yaml"
    file.write_text(shown)
    prod = load(file, "prod")
    assert prod.parameters_of(POLICIES["P103"]).model_dump() == {"max_seconds": 600}
    assert prod.waivers[0].source.line == 14
    assert load(file, "dev").severity(POLICIES["P302"]).value == "warning"


def test_the_counts_of_the_readme_are_those_of_the_command() -> None:
    readme = (README.parents[1] / "README.md").read_text()
    own = sum(policy.id.startswith("P") for policy in POLICIES.values())
    assert f"| policies, {own} of them our own, {len(POLICIES) - own} KubeRay's | {len(POLICIES)} |" in readme
    for front_end, number in counts().items():
        assert f"| {front_end} | {number} |" in readme
