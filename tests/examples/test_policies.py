"""What `kuberay-policies preview` says about the examples and the environments, as in a pull request."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.programs import EXAMPLES


def preview(project: Path, *arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("kuberay-policies")), "preview", *arguments]
    done = subprocess.run(
        command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("name", ["gpu-team", "batch-inference"])
def test_an_example_has_no_finding(name: str) -> None:
    assert "0 errors, 0 warnings" in preview(EXAMPLES / name, "--stack", "dev")


def test_deletion_rules_leave_the_ray_cluster_of_a_stopped_job_as_their_readme_says() -> None:
    said = preview(EXAMPLES / "deletion-rules", "--stack", "dev")

    assert "0 errors, 1 warning" in said and "STOPPED" in said
    assert "STOPPED" in (EXAMPLES / "deletion-rules" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("stack", ["dev", "staging", "prod", "kind"])
def test_an_environment_passes_its_policies(stack: str) -> None:
    assert "0 errors" in preview(EXAMPLES.parent, "--stack", stack)


def test_the_job_of_the_readme_has_no_error(tmp_path: Path) -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    [program] = [block for block in readme.split("```python\n")[1:] if "RayJobArgs(" in block]
    (tmp_path / "__main__.py").write_text(program.split("```")[0], encoding="utf-8")
    (tmp_path / "Pulumi.yaml").write_text("name: readme\nruntime: python\n", encoding="utf-8")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n", encoding="utf-8")

    assert "1 object in 1 file" in preview(tmp_path, "--stack", "dev")
