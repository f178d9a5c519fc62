"""The file ``Pulumi.<stack>.yaml``: where in it a configuration value is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pulumi
import yaml

PROJECT = "kuberay"
"""Name of the Pulumi project, the prefix of its configuration keys."""

KeyPath = tuple[str | int, ...]
"""The keys and list positions that lead to a value, without the project's prefix."""


@dataclass(frozen=True)
class StackFile:
    """A stack's file, as far as it can be read; a configuration can also come from elsewhere.

    Attributes:
        name: Name of the file, for messages.
        config: The YAML node below ``config``, or None if there is none.
    """

    name: str = ""
    config: yaml.Node | None = None

    @classmethod
    def of_running_stack(cls, program: Path) -> "StackFile":
        """Find the file of the stack that runs: in the project's folder, or else beside the program.

        Args:
            program: Folder of the program.
        """
        name = f"Pulumi.{pulumi.get_stack()}.yaml"
        root = pulumi.runtime.settings.get_root_directory()
        folders = [Path(root), program] if root else [program]
        return next((cls.read(folder / name) for folder in folders if (folder / name).is_file()), cls())

    @classmethod
    def read(cls, path: Path) -> "StackFile":
        """Read a file; one that is no YAML has no places."""
        try:
            root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except (OSError, ValueError, yaml.YAMLError):
            return cls(path.name)
        entry = _entry(root, "config")
        return cls(path.name, entry[1] if entry else None)

    def holding(self, values: Mapping[str, object]) -> "StackFile":
        """Return the file without the keys whose values are others: those come from another file or an environment.

        Args:
            values: What the configuration has, by key without the project's prefix.
        """
        if not isinstance(self.config, yaml.MappingNode):
            return self
        try:
            written = yaml.SafeLoader("").construct_document(self.config)
        except yaml.YAMLError:
            return replace(self, config=None)
        same = [
            entry
            for entry in self.config.value
            if written.get(entry[0].value) == values.get(entry[0].value.removeprefix(f"{PROJECT}:"))
        ]
        return replace(self, config=yaml.MappingNode(self.config.tag, same))

    def line(self, path: KeyPath) -> int | None:
        """Return the line, counted from 1, where a value is written, or the nearest of those above it.

        None means that the configuration does not come from this file.
        """
        steps = list(self._steps(path))
        return steps[-1][0].line + 1 if steps else None

    def keys(self, path: KeyPath) -> list[str]:
        """Return the keys of the mapping at a path; none if it is not in this file."""
        steps = list(self._steps(path))
        node = steps[-1][1] if len(steps) == len(path) > 0 else None
        return [str(name.value) for name, _ in node.value] if isinstance(node, yaml.MappingNode) else []

    def place(self, line: int) -> str:
        """Return the beginning of a message about a line; 0 is a line that is not known."""
        return f"{self.name}:{line}: " if line else ""

    def _steps(self, path: KeyPath) -> Iterator[tuple[yaml.Mark, yaml.Node]]:
        node = self.config
        for key in (f"{PROJECT}:{path[0]}", *path[1:]) if path else ():
            entry = _entry(node, key)
            if entry is None:
                return
            yield entry
            node = entry[1]


def _entry(node: yaml.Node | None, key: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((name.start_mark, value) for name, value in node.value if name.value == str(key)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark, node.value[key]
    return None
