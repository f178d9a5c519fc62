"""The project's cache folder, for things that can always be made again."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_folder(name: str) -> Path:
    """Return the folder `name` below the project's cache, created if it is not there.

    It is ``$XDG_CACHE_HOME/pulumi-kuberay/<name>``, or ``~/.cache/pulumi-kuberay/<name>`` without that
    variable. Where that cannot be written, as in a container with a read-only image, it is a folder of the user
    below the one for temporary files.

    Raises:
        OSError: Neither can be written, or the second belongs to another user.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "pulumi-kuberay" / name
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK) else _temporary(name)


def _temporary(name: str) -> Path:
    root = Path(tempfile.gettempdir()) / f"pulumi-kuberay-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    if root.stat().st_uid != os.getuid():
        raise PermissionError(
            f"Expected {root} to belong to the user {os.getuid()}. Set XDG_CACHE_HOME to another folder."
        )
    folder = root / name
    folder.mkdir(exist_ok=True)
    return folder


def write_atomically(path: Path, text: str) -> None:
    """Write `text` to `path` so that no reader, in this process or another, ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)
