"""Workflows are what actionlint accepts, pinned, least privileged, and call what is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from kuberay_toolchain import PROGRAMS, Silent, Toolchain
from kuberay_toolchain.programs import select

from .checks import (
    by_major_release,
    make_calls,
    missing_paths,
    permissive,
    runs_only_its_script,
    trusting,
    unbounded,
    unknown_to_make,
    unpinned,
)
from .documents import ACTIONS, ROOT, WORKFLOWS, Document

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
CACHE = "actions/cache/restore@27d5ce7f107fe9357f9df03efb73ab90386fccae # v5.0.5"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

every_file = pytest.mark.parametrize(
    "document",
    [pytest.param(Document.read(path), id=str(path.relative_to(ROOT))) for path in (*WORKFLOWS, *ACTIONS)],
)


def workflow(
    step: str = "run: make lint", *, top: str = "permissions: {}", job: str = "timeout-minutes: 5"
) -> Document:
    """Make a workflow of one job with one step."""
    return Document.parse(f"""\
on: pull_request
{top}
concurrency:
  group: one
jobs:
  only:
    runs-on: ubuntu-24.04
    permissions:
      contents: read
    {job}
    steps:
      - {step}
""")


def as_workflow(action: str) -> str:
    """Put the steps of a composite action into a workflow that takes the same inputs."""
    content = yaml.safe_load(by_major_release(action))
    inputs = {name: {"type": "string", "default": ""} for name in content["inputs"]}
    job = {"runs-on": "ubuntu-24.04", "steps": content["runs"]["steps"]}
    return yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"steps": job}})


class Lint:
    """Lints texts as workflows of a project that has this repository's actions."""

    def __init__(self, program: Path, project: Path) -> None:
        self._program = program
        self._project = project
        (project / ".git").mkdir()
        shutil.copytree(ROOT / ".github" / "actions", project / ".github" / "actions")
        (project / ".github" / "workflows").mkdir()

    def __call__(self, text: str) -> str:
        path = self._project / ".github" / "workflows" / "linted.yml"
        path.write_text(text, encoding="utf-8")
        command = [str(self._program), "-no-color", "-shellcheck=", "-pyflakes=", str(path)]
        done = subprocess.run(command, cwd=self._project, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    return Lint(Toolchain(progress=Silent()).ensure("actionlint")["actionlint"], tmp_path)


def test_there_are_a_workflow_for_changes_and_one_for_the_night() -> None:
    assert [path.name for path in WORKFLOWS] == ["nightly.yml", "pull-request.yml"]
    night, change = (Document.read(path) for path in WORKFLOWS)
    assert night.triggers == {"schedule", "workflow_dispatch"}
    assert change.triggers == {"pull_request", "push"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_finds_nothing(path: Path, lint: Lint) -> None:
    text = path.read_text(encoding="utf-8")
    assert lint(text) == ""
    assert lint(by_major_release(text)) == ""


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_actionlint_finds_nothing_in_the_steps_of_an_action(path: Path, lint: Lint) -> None:
    text = path.read_text(encoding="utf-8")
    assert lint(as_workflow(text)) == ""
    assert "is not defined" in lint(as_workflow(text.replace("path:", "where:")))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("run: echo ${{ github.event.pull_request.title }}", "potentially untrusted"),
        (f"uses: {by_major_release(CACHE)}", 'missing input "key"'),
        ("uses: ./.github/actions/publish-report", 'missing input "folder"'),
        ("run: echo ${{ steps.none.outputs.key }}", '"none" is not defined'),
    ],
)
def test_actionlint_finds_a_mistake(step: str, said: str, lint: Lint) -> None:
    assert said in lint(workflow(step).text)


@every_file
def test_every_action_is_pinned_by_a_commit_with_its_release_beside_it(document: Document) -> None:
    assert unpinned(document) == []


@pytest.mark.parametrize(
    "uses",
    [
        "actions/checkout@v7",
        CHECKOUT.split(" #")[0],
        CHECKOUT.replace("v7.0.1", "v7.0.0"),
        CHECKOUT.replace("@3d3c", "@3d3d"),
        "actions/checkout",
        "somebody/else@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
    ],
)
def test_an_action_that_is_not_pinned_is_found(uses: str) -> None:
    assert len(unpinned(workflow(f"uses: {uses}"))) == 1
    assert unpinned(workflow(f"uses: {CHECKOUT}")) == []


@every_file
def test_no_job_may_do_more_than_read(document: Document) -> None:
    assert permissive(document) == []


def test_a_permission_too_many_is_found() -> None:
    assert permissive(workflow(top="permissions: read-all")) == ["workflow"]
    assert permissive(workflow(top="env: {}")) == ["workflow"]
    written = workflow().text.replace("contents: read", "contents: write")
    assert permissive(Document.parse(written)) == ["only"]
    more = workflow().text.replace("contents: read", "contents: read\n      issues: write")
    assert permissive(Document.parse(more)) == ["only"]


def test_only_a_job_without_any_code_of_a_change_may_comment() -> None:
    def commenting(step: str) -> Document:
        return Document.parse(workflow(step).text.replace("contents: read", "pull-requests: write"))

    assert permissive(commenting("run: curl")) == []
    assert permissive(commenting(f"uses: {CHECKOUT}")) == ["only"]
    assert permissive(commenting("uses: ./.github/actions/setup")) == ["only"]


@every_file
def test_nobody_else_s_text_or_code_is_trusted(document: Document) -> None:
    assert trusting(document) == []


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (workflow("run: echo ${{ github.head_ref }}"), "expression in a script"),
        (workflow(f"uses: {CHECKOUT}"), "checkout keeps credentials"),
        (workflow("env: {TOKEN: '${{ secrets.TOKEN }}'}"), "secret"),
        (workflow("{uses: ./.github/actions/setup, env: {TOKEN: '${{ github.token }}'}}"), "token"),
        (workflow(top="permissions: {}\nenv: {TOKEN: '${{ github.token }}'}"), "token"),
        (Document.parse(workflow().text.replace("on: pull_request", "on: {pull_request_target: {}}")), "trigger"),
    ],
)
def test_trust_in_somebody_else_is_found(document: Document, problem: str) -> None:
    [found] = trusting(document)
    assert found.startswith(problem)


@every_file
def test_every_job_ends_and_no_workflow_runs_twice_at_once(document: Document) -> None:
    assert unbounded(document) == []


def test_a_job_without_bounds_is_found() -> None:
    assert unbounded(workflow(job="name: Only")) == ["only has no time limit"]
    text = workflow().text
    assert unbounded(Document.parse(text.replace("ubuntu-24.04", "ubuntu-latest"))) == ["only runs on ubuntu-latest"]
    assert unbounded(Document.parse(text.replace("group: one", "other: one"))) == ["no concurrency group"]


@every_file
def test_every_make_target_is_in_the_makefile(document: Document) -> None:
    assert [problem for script in document.scripts for problem in unknown_to_make(script, MAKEFILE)] == []


def test_every_job_that_checks_something_calls_make() -> None:
    for path in WORKFLOWS:
        for name, job in Document.read(path).jobs.items():
            if runs_only_its_script(job):
                continue
            assert any(list(make_calls(step.get("run", ""))) for step in job["steps"]), f"{path.name}: {name}"


@pytest.mark.parametrize(
    ("script", "problems"),
    [
        ("make lint", []),
        ("cd here && make lint ARGS='--format github' | tee log", []),
        ("make nothing; make lint", ["no target nothing"]),
        ("make lint nothing", ["no target nothing"]),
        ("echo a\nmake lint WRONG=1", ["no variable WRONG"]),
    ],
)
def test_a_make_target_that_is_not_there_is_found(script: str, problems: list[str]) -> None:
    assert unknown_to_make(script, "BIN := bin\nlint: setup  ## Style\n\t$(BIN)/ruff $(ARGS)\n") == problems


@every_file
def test_every_path_is_in_the_repository(document: Document) -> None:
    assert missing_paths(document, ROOT) == []


@pytest.mark.parametrize(
    "step",
    [
        "uses: ./.github/actions/nowhere",
        "run: scripts/nowhere",
        "run: .venv/bin/python nowhere/main.py",
        "{uses: some/action, with: {cache-dependency-path: nowhere.lock}}",
        "{uses: some/action, with: {key: \"${{ hashFiles('Makefile', 'nowhere/**') }}\"}}",
    ],
)
def test_a_path_that_is_not_there_is_found(step: str, tmp_path: Path) -> None:
    (tmp_path / "Makefile").touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    assert len(missing_paths(workflow(step), tmp_path)) == 1


def test_the_programs_that_are_built_ahead_are_known() -> None:
    asked = [
        call.variables["PROGRAMS"].split()
        for path in WORKFLOWS
        for script in Document.read(path).scripts
        for call in make_calls(script)
        if "PROGRAMS" in call.variables
    ]
    assert asked
    assert all(select(PROGRAMS, name).on_request for names in asked for name in names)


def test_what_is_saved_is_restored_from_the_same_places() -> None:
    """The places are a part of a cache's identity: with others, nothing would ever be found."""

    def places(path: Path, use: str) -> set[str]:
        return {step["with"]["path"] for step in Document.read(path).steps if use in step.get("uses", "")}

    [setup] = [path for path in ACTIONS if path.parent.name == "setup"]
    [night] = [path for path in WORKFLOWS if path.name == "nightly.yml"]
    assert len(places(setup, "cache/restore")) == 2
    assert places(setup, "cache/restore") == places(night, "cache/save")
