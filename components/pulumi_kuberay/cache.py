"""The project's cache folder, for things that can always be made again."""

import os
import tempfile
from pathlib import Path


def cache_folder(name: str) -> Path:
    """Return the folder `name` below the project's cache, created if it is not there.

    It is ``$XDG_CACHE_HOME/pulumi-kuberay/<name>``, or ``~/.cache/pulumi-kuberay/<name>`` without that
    variable.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "pulumi-kuberay" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_atomically(path: Path, text: str) -> None:
    """Write `text` to `path` so that no reader, in this process or another, ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)
