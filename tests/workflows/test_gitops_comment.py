"""A pull request says what a sync of it will do: the page is made from both commits, and kept in one comment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .comments import Comments
from .documents import ROOT, Document, step
from .scripts import change, run

CHANGE = Document.read(ROOT / ".github" / "workflows" / "pull-request.yml")
MARKER = "<!-- What a sync will do -->"
COMMENT = step(CHANGE, "jq -r .html_url")
PAGE = '### Stack `prod`\n\n**jobs that will run: 1**, "quoted", \\n and ünïcode\n'


def comment(
    comments: Comments, folder: Path, page: str = PAGE, token: str = "right"
) -> subprocess.CompletedProcess[str]:
    with comments.served("right") as address:
        return run(
            COMMENT["run"],
            folder,
            GITHUB_API_URL=address,
            GITHUB_REPOSITORY="team/clusters",
            NUMBER="7",
            TOKEN=token,
            PAGE=page,
        )


def test_the_first_page_becomes_a_comment(tmp_path: Path) -> None:
    comments = Comments("Looks good to me.")
    done = comment(comments, tmp_path)
    assert done.returncode == 0, done.stdout
    assert comments.bodies == {1: "Looks good to me.", 2: f"{MARKER}\n{PAGE}"}


def test_a_later_page_takes_the_place_of_the_first_however_many_comments_came_before(tmp_path: Path) -> None:
    comments = Comments(*["Looks good to me."] * 230, f"{MARKER}\nold", f"> {MARKER}\nquoted")
    done = comment(comments, tmp_path)
    assert done.returncode == 0, done.stdout
    assert comments.bodies[231] == f"{MARKER}\n{PAGE}"
    assert len(comments.bodies) == 232
    assert comments.bodies[232].startswith(">")


def test_the_longest_page_fits_into_a_comment(tmp_path: Path) -> None:
    comments = Comments()
    done = comment(comments, tmp_path, page='"' * 60_000)
    assert done.returncode == 0, done.stdout
    assert len(comments.bodies[1]) < 65_536


def test_a_comment_that_is_refused_fails_and_says_why(tmp_path: Path) -> None:
    comments = Comments()
    done = comment(comments, tmp_path, token="wrong")
    assert done.returncode != 0
    assert "not accessible" in done.stdout
    assert (comments.bodies, comments.refused) == ({}, 1)


def test_a_page_is_handed_on_whole_and_cut_where_github_would_refuse_it(tmp_path: Path) -> None:
    (tmp_path / "reports/gitops").mkdir(parents=True)
    (tmp_path / "reports/gitops/summary.md").write_text("first\n" + "x" * 100_000)
    output = tmp_path / "output"
    done = run(step(CHANGE, "GITHUB_OUTPUT")["run"], tmp_path, GITHUB_OUTPUT=str(output))
    assert done.returncode == 0, done.stdout
    first, *middle, last = output.read_text().splitlines()
    assert first == f"page<<{last}"
    assert middle[0] == "first"
    assert 59_000 < sum(len(line) + 1 for line in middle) < 65_536


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=Tests", "-c", "user.email=tests@example.com"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.nightly
def test_the_page_says_which_jobs_a_change_runs_stops_and_breaks(checkout: Path) -> None:
    git(checkout, "init", "--quiet")
    (checkout / ".gitignore").write_text("/.venv/\nreports/\n*.egg-info/\n__pycache__/\n")
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message", "Before")
    change(checkout, "kind", entrypoint="python -c 'print(1)'")
    change(checkout, "staging", activeDeadlineSeconds="an hour")
    git(checkout, "commit", "--quiet", "--all", "--message", "After")

    done = run(step(CHANGE, "make gitops-change")["run"].replace("make", "make STACKS='staging kind'"), checkout)

    page = (checkout / "reports/gitops/summary.md").read_text()
    assert done.returncode != 0
    assert "### Stack `staging` cannot be rendered" in page and "activeDeadlineSeconds" in page
    assert "#### Jobs that will be replaced" in page and "print(1)" in page
    assert "counts as new" not in page
    assert git(checkout, "worktree", "list").count("\n") == 1
    assert not (checkout / "reports/gitops/checkout").exists()


def test_a_commit_that_is_not_there_is_refused_before_anything_is_made(checkout: Path) -> None:
    git(checkout, "init", "--quiet")
    done = run("scripts/gitops-change 0123456789 argocd kind", checkout)
    assert done.returncode == 2
    assert "found no 0123456789" in done.stdout and "BASE=" in done.stdout
    assert not (checkout / "reports").exists()
