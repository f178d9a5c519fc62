"""The shell scripts of the workflows do what they are there for, run as GitHub runs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from .documents import ROOT, Document, step
from .scripts import change, run

CHANGE = Document.read(ROOT / ".github" / "workflows" / "pull-request.yml")
NIGHT = Document.read(ROOT / ".github" / "workflows" / "nightly.yml")
PUBLISH = Document.read(ROOT / ".github" / "actions" / "publish-report" / "action.yml")

LEAKING_JOB = """\
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: train
spec:
  entrypoint: python train.py
  backoffLimit: -1
  rayClusterSpec: {}
"""


def annotated(output: str, kind: str) -> list[Mapping[str, str]]:
    """The properties of the annotations of a kind, with the text as `message`."""
    found = re.findall(rf"^::{kind} (.*?)::(.*)$", output, re.MULTILINE)
    return [dict(part.split("=", 1) for part in given.split(",")) | {"message": message} for given, message in found]


def test_the_plain_yaml_of_this_repository_passes(checkout: Path) -> None:
    done = run(step(CHANGE, "make manifests")["run"], checkout)
    assert done.returncode == 0, done.stdout
    assert not annotated(done.stdout, "error")


def test_a_bad_manifest_fails_and_is_annotated_at_its_line(checkout: Path) -> None:
    (checkout / "jobs").mkdir()
    (checkout / "jobs" / "train.yaml").write_text(LEAKING_JOB)
    done = run(step(CHANGE, "make manifests")["run"], checkout)
    assert done.returncode != 0
    [refused] = [found for found in annotated(done.stdout, "error") if "backoffLimit" in found["message"]]
    assert refused["file"] == "jobs/train.yaml"
    assert refused["line"] == "7"


def test_a_file_that_cannot_be_read_fails_and_is_annotated(checkout: Path) -> None:
    (checkout / "jobs.yaml").write_text("apiVersion: ray.io/v1\nkind: [RayJob\n")
    done = run(step(CHANGE, "make manifests")["run"], checkout)
    assert done.returncode != 0
    assert "jobs.yaml" in [found["file"] for found in annotated(done.stdout, "error")]


def test_a_stack_that_breaks_a_policy_fails_and_the_other_stacks_are_previewed_all_the_same(checkout: Path) -> None:
    change(checkout, "dev", activeDeadlineSeconds="an hour")
    change(checkout, "staging", activeDeadlineSeconds=None)
    done = run(step(CHANGE, "make policies")["run"], checkout)
    assert done.returncode != 0
    [malformed, endless] = annotated(done.stdout, "error")
    assert "Pulumi.dev.yaml" in malformed["message"] and "activeDeadlineSeconds" in malformed["message"]
    assert "rehearsal" in endless["message"] and "activeDeadlineSeconds" in endless["message"]
    assert all(f" for {stack}: " in done.stdout for stack in ("staging", "prod", "kind"))


def test_the_summary_of_a_report_is_shown(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("# All recovered\n")
    page = tmp_path / "page.md"
    done = run(step(PUBLISH, "SUMMARY")["run"], tmp_path, SUMMARY="summary.md", GITHUB_STEP_SUMMARY=str(page))
    assert done.returncode == 0, done.stdout
    assert page.read_text() == "# All recovered\n"


def test_a_summary_is_cut_before_github_refuses_it(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("x" * 2_000_000)
    page = tmp_path / "page.md"
    run(step(PUBLISH, "SUMMARY")["run"], tmp_path, SUMMARY="summary.md", GITHUB_STEP_SUMMARY=str(page))
    assert 0 < page.stat().st_size < 1024 * 1024


@pytest.mark.parametrize("content", [None, ""])
def test_a_report_that_is_not_there_fails_and_says_so(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "summary.md").write_text(content)
    page = tmp_path / "page.md"
    done = run(step(PUBLISH, "SUMMARY")["run"], tmp_path, SUMMARY="summary.md", GITHUB_STEP_SUMMARY=str(page))
    assert done.returncode == 1
    assert "There is no report" in page.read_text()


@pytest.mark.parametrize("code", [0, 1])
def test_figures_become_a_summary_and_a_failure_stays_one(code: int, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(f"bench:\n\t@echo 'check 2.1 s'; exit {code}\n")
    done = run(step(NIGHT, "make bench")["run"], tmp_path)
    assert (done.returncode == 0) == (code == 0)
    assert "check 2.1 s" in done.stdout
    if code == 0:
        assert (tmp_path / "reports/bench/summary.md").read_text() == "```\ncheck 2.1 s\n```\n"
