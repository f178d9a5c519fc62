"""What a workflow or an action must not do: each check returns what is wrong, and nothing if all is well."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .documents import Document

PINS = {
    "actions/checkout": ("3d3c42e5aac5ba805825da76410c181273ba90b1", "v7.0.1"),
    "actions/setup-python": ("5fda3b95a4ea91299a34e894583c3862153e4b97", "v7.0.0"),
    "actions/cache": ("27d5ce7f107fe9357f9df03efb73ab90386fccae", "v5.0.5"),
    "actions/upload-artifact": ("bbbca2ddaa5d8feaa63e36b76fdaad77386f024f", "v7.0.0"),
}
"""Commit and release of each action, as looked up in its own repository."""

PRODUCED = ("reports/",)
"""Folders that the make targets write."""

_USES = re.compile(r"\buses:[ ]*(?P<action>[^@#\s]+)(?:@(?P<commit>\S+))?(?:[ ]+#[ ]*(?P<version>\S+))?")
_PINNED_USES = re.compile(r"@[0-9a-f]{40} # (v\d+)\S*")


def unpinned(document: Document) -> list[str]:
    """Name what is used otherwise than by the commit of a known release, with the release beside it."""
    problems = []
    for match in _USES.finditer(document.text):
        action, commit, version = match.group("action", "commit", "version")
        if not action.startswith("./") and (commit, version) != PINS.get("/".join(action.split("/")[:2])):
            problems.append(f"{action}@{commit} # {version}")
    return problems


def by_major_release(text: str) -> str:
    """Name actions by their major release, the way in which actionlint knows what they take."""
    return _PINNED_USES.sub(r"@\1", text)


def permissive(document: Document) -> list[str]:
    """Name the jobs that may do more than read, and the workflow itself if it grants anything to all of them.

    A job that runs no code but its own script may comment.
    """
    problems = []
    for name, job in document.jobs.items():
        allowed = [{"contents": "read"}, {"contents": "read", "actions": "read"}]
        if runs_only_its_script(job):
            allowed.append({"pull-requests": "write"})
        if job.get("permissions") not in allowed:
            problems.append(name)
    if document.jobs and document.content.get("permissions") != {}:
        problems.append("workflow")
    return problems


def runs_only_its_script(job: Mapping[str, Any]) -> bool:
    """Say whether a job has no file of any change and no action, so that a change cannot bring code into it."""
    return not any("uses" in step for step in job["steps"])


def trusting(document: Document) -> list[str]:
    """Name what lets a stranger's text or code do harm: expressions in scripts, kept credentials, secrets, triggers."""
    problems = [f"expression in a script: {script}" for script in document.scripts if "${{" in script]
    for step in document.steps:
        kept = step.get("with", {}).get("persist-credentials") is not False
        if step.get("uses", "").startswith("actions/checkout@") and kept:
            problems.append("checkout keeps credentials")
    if re.search(r"\bsecrets\s*[.\[]", document.text):
        problems.append("secret")
    strangers = [job for job in document.jobs.values() if not runs_only_its_script(job)]
    rest = yaml.safe_dump({**document.content, "jobs": strangers})
    if re.search(r"\bgithub\.token\b", rest) and "schedule" not in document.content.get(True, {}):
        problems.append("token where a stranger's code may run")
    if document.jobs:
        risky = document.triggers & {"pull_request_target", "workflow_run", "issue_comment"}
        problems += [f"trigger {name}" for name in sorted(risky)]
    return problems


def unbounded(document: Document) -> list[str]:
    """Name the jobs without a time limit or on a runner that changes by itself, and a workflow that may run twice."""
    problems = []
    for name, job in document.jobs.items():
        if not isinstance(job.get("timeout-minutes"), int):
            problems.append(f"{name} has no time limit")
        if "latest" in job.get("runs-on", "latest"):
            problems.append(f"{name} runs on {job.get('runs-on')}")
    if document.jobs and "group" not in document.content.get("concurrency", {}):
        problems.append("no concurrency group")
    return problems


@dataclass(frozen=True)
class MakeCall:
    """A call of make in a script.

    Attributes:
        targets: The targets.
        variables: Variables that are set on the command line.
    """

    targets: tuple[str, ...]
    variables: Mapping[str, str]


def make_calls(script: str) -> Iterator[MakeCall]:
    """Yield the calls of make in a shell script."""
    for line in script.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
        while "make" in words:
            words = words[words.index("make") + 1 :]
            call = words[: next((i for i, word in enumerate(words) if set(word) <= set("();<>|&")), len(words))]
            yield MakeCall(
                tuple(word for word in call if "=" not in word and not word.startswith("-")),
                dict(word.split("=", 1) for word in call if "=" in word),
            )


def unknown_to_make(script: str, makefile: str) -> list[str]:
    """Name targets that the Makefile does not have, and variables that it does not read."""
    targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", makefile, re.MULTILINE))
    variables = set(re.findall(r"\$\(([A-Z]+)\)", makefile))
    problems = []
    for call in make_calls(script):
        problems += [f"no target {target}" for target in call.targets if target not in targets]
        problems += [f"no variable {name}" for name in call.variables if name not in variables]
    return problems


def missing_paths(document: Document, root: Path) -> list[str]:
    """Name paths of the repository that are not there: local actions, patterns of hashes, files in scripts."""
    problems = []
    for step in document.steps:
        local = step.get("uses", "")
        if local.startswith("./") and not (root / local / "action.yml").is_file():
            problems.append(local)
        lock = step.get("with", {}).get("cache-dependency-path")
        if lock and not (root / lock).is_file():
            problems.append(lock)
    for arguments in re.findall(r"hashFiles\(([^)]*)\)", document.text):
        problems += [pattern for pattern in re.findall(r"'([^']+)'", arguments) if not _files(root, pattern)]
    for script in document.scripts:
        for word in re.findall(r"[\w.~$/-]*/[\w./-]+", script):
            if not word.startswith(("/", "~", "$", *PRODUCED)) and not (root / word).exists():
                problems.append(word)
    return problems


def _files(root: Path, pattern: str) -> Sequence[Path]:
    below = f"{pattern}/*" if pattern.endswith("**") else pattern
    return [path for path in root.glob(below) if path.is_file()]
