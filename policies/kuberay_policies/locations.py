"""Lines of findings: where in a file the value at a path of an object is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from kuberay_model.yaml_loader import ManifestLoader
from kuberay_policies.reading.files import UnreadableError, read_text
from kuberay_policies.subjects import Source, keys

Place = tuple[int, int]
"""Line and column, counted from 1."""


class Locations:
    """Finds places in files; each file is read once more, and only if something is looked for in it."""

    def __init__(self, standard_input: str | None = None) -> None:
        """Remember the text of standard input.

        Args:
            standard_input: Its text; None if nothing was read from it.
        """
        self._texts = {} if standard_input is None else {"-": standard_input}
        self._file: str | None = None
        self._documents: list[yaml.Node] = []

    def place(self, source: Source, path: str) -> Place | None:
        """Return line and column of a value, of what holds it if it is missing, None if nothing is known.

        Args:
            source: Where the object was read.
            path: Path of the value in the object, as in findings.
        """
        if source.file is None:
            return None
        if source.file != self._file:
            self._file, self._documents = source.file, self._composed(source.file)
        if source.document >= len(self._documents):
            return None if source.line is None else (source.line, 1)
        return _place(self._documents[source.document], [*map(str, source.pointer), *keys(path)])

    def _composed(self, file: str) -> list[yaml.Node]:
        try:
            text = self._texts[file] if file in self._texts else read_text(Path(file))
            found = []
            for node in yaml.compose_all(text, ManifestLoader):
                if node is not None and node.tag != "tag:yaml.org,2002:null":
                    found.append(node)
            return found
        except (UnreadableError, yaml.YAMLError):
            return []


def _place(node: yaml.Node, keys: Iterable[str]) -> Place:
    mark = node.start_mark
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            entry = next((entry for entry in node.value if entry[0].value == key), None)
            if entry is None:
                break
            mark, node = entry[0].start_mark, entry[1]
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            mark = node.start_mark
        else:
            break
    return mark.line + 1, mark.column + 1
