"""The workflows and the composite actions of this repository, as YAML documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))


@dataclass(frozen=True)
class Document:
    """A workflow or a composite action.

    Attributes:
        text: Its text, comments included.
        content: What the text says. PyYAML reads the key `on` as True.
    """

    text: str
    content: Mapping[Any, Any]

    @classmethod
    def parse(cls, text: str) -> Document:
        return cls(text, yaml.safe_load(text))

    @classmethod
    def read(cls, path: Path) -> Document:
        return cls.parse(path.read_text(encoding="utf-8"))

    @property
    def jobs(self) -> Mapping[str, Mapping[str, Any]]:
        """The jobs of a workflow; none of an action."""
        return self.content.get("jobs") or {}

    @property
    def triggers(self) -> set[str]:
        """The events that start a workflow."""
        return set(self.content[True])

    @property
    def steps(self) -> Iterator[Mapping[str, Any]]:
        """Every step."""
        for job in self.jobs.values():
            yield from job["steps"]
        yield from self.content.get("runs", {}).get("steps", [])

    @property
    def scripts(self) -> Iterator[str]:
        """The shell script of every step that has one."""
        yield from (step["run"] for step in self.steps if "run" in step)


def step(document: Document, part: str) -> Mapping[str, Any]:
    """The one step whose script holds a text."""
    [found] = [step for step in document.steps if part in step.get("run", "")]
    return found
