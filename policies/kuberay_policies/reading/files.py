"""Finding files below paths, and reading them as text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

SUFFIXES = (".yaml", ".yml", ".json")
"""Files of a folder that are read; a file that is named is read whatever its name."""
LARGEST = 64 * 1024 * 1024
"""Largest file that is read, in bytes."""

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class UnreadableError(ValueError):
    """A file that cannot be read as text.

    Attributes:
        line: Line, counted from 1; None if the whole file is at fault.
        message: What is wrong and what to do.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message, line)
        self.message = message
        self.line = line


def found(folder: Path, excluded: Sequence[str]) -> Iterator[Path]:
    """Yield the files of a folder and of those below it, in the order of their names.

    Links to folders are followed once; hidden folders and those of tools are left out.

    Args:
        folder: The folder.
        excluded: Patterns of paths or names that are left out; `*` stands for any text.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        status = current.stat()
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        folders = []
        for entry in sorted(os.scandir(current), key=lambda entry: entry.name):
            path = current / entry.name
            if any(fnmatch(str(path), pattern) or fnmatch(entry.name, pattern) for pattern in excluded):
                continue
            if _is_folder(entry):
                if not entry.name.startswith(".") and entry.name not in _SKIPPED_FOLDERS:
                    folders.append(path)
            elif path.suffix in SUFFIXES:
                yield path
        waiting += reversed(folders)


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UnreadableError: The file cannot be read, or is no text in UTF-8.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
            raise UnreadableError("This is no file; give a YAML or JSON file, or a folder.")
        if status.st_size > LARGEST:
            raise UnreadableError(
                f"The file has {status.st_size // 1024**2} MiB, and at most {LARGEST // 1024**2} are read; split it."
            )
        return decoded(path.read_bytes())
    except FileNotFoundError:
        raise UnreadableError("There is no such file; check the path.") from None
    except PermissionError:
        raise UnreadableError("The file may not be read; check its permissions.") from None
    except OSError as error:
        raise UnreadableError(f"The file cannot be read: {error.strerror}.") from error


def decoded(content: bytes) -> str:
    """Return the text that bytes in UTF-8 hold, a byte order mark removed.

    Raises:
        UnreadableError: The bytes are no text in UTF-8.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            raise UnreadableError(f"The file is in {encoding}; save it as UTF-8.")
    if (position := content.find(b"\0")) >= 0:
        raise UnreadableError("This is no text file: it holds a zero byte.", content[:position].count(b"\n") + 1)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnreadableError("The file is not in UTF-8; save it as UTF-8.", line) from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
