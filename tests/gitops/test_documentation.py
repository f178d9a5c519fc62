"""The pages about the engines: their commands do what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kuberay_e2e.gitops.stage import Stage
from tests.gitops.stacks import ROOT


def page(name: str) -> str:
    return (ROOT / "docs" / f"gitops-{name}.md").read_text()


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_the_commands_of_a_page_work_one_after_the_other(tmp_path: Path, engine: str) -> None:
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", page(engine), re.DOTALL))
    author = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {
        **os.environ,
        **author,
        "PULUMI_KUBERAY": str(ROOT),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        ["bash", "-euxc", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A sync of this change: changed: 1." in done.stdout
    assert "activeDeadlineSeconds: 900 -> 1200" in (tmp_path / "comment.md").read_text()


def test_the_page_names_every_stage_with_its_wave() -> None:
    for stage in Stage:
        assert re.search(rf"\| `{stage.folder}` \| {stage.wave}( to -8)? \|", page("argocd")), stage
