"""A rendered folder: what says that it is one, and how it is replaced as a whole."""

import contextlib
import ctypes
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from kuberay_e2e.errors import HarnessError, InputError
from kuberay_e2e.gitops.layout import Layout

RECORD = "kuberay-render.json"
FORMAT = 1
PARTS = frozenset({RECORD, "objects", "argocd", "flux"})
"""What a rendered folder consists of."""

_AT_FDCWD = -100
_EXCHANGE = 2


@dataclass(frozen=True)
class Record:
    """What a rendered folder says of itself.

    Attributes:
        stack: Name of the stack.
        layout: The engine that it is for.
        path: Path of the folder in its Git repository.
        repository: URL of the repository, empty if it was not given.
        secrets: Secrets that are not in the folder and must be in the cluster, as `namespace/name`.
    """

    stack: str
    layout: Layout
    path: str
    repository: str = ""
    secrets: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the content of the record's file."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, sort_keys=True) + "\n"

    @classmethod
    def of(cls, folder: Path) -> "Record":
        """Read the record of a folder.

        Raises:
            InputError: The folder was not made by `kuberay-e2e render`, or by another version of it.
        """
        if not folder.is_dir():
            raise InputError(f"There is no folder {folder}; give one that `kuberay-e2e render` has written.")
        file = folder / RECORD
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(
                f"{folder} was not written by `kuberay-e2e render`: there is no {RECORD} in it. Render the stack, or "
                "check YAML of other tools by `kuberay-policies check`."
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read: {error}. Render the stack again.") from None
        return cls._parsed(content, file)

    @classmethod
    def _parsed(cls, content: Any, file: Path) -> "Record":
        known = {field.name for field in fields(cls)}
        if not isinstance(content, Mapping) or content.get("format") != FORMAT or set(content) != known | {"format"}:
            raise InputError(
                f"{file} is not of this version of `kuberay-e2e render` (format {FORMAT}); render the stack again."
            )
        try:
            layout = Layout(content["layout"])
        except ValueError:
            raise InputError(
                f"{file}: expected the layout to be one of {', '.join(Layout)}, got {content['layout']!r}; render the "
                "stack again."
            ) from None
        texts = {key: str(content[key]) for key in ("stack", "path", "repository")}
        return cls(layout=layout, secrets=tuple(map(str, content["secrets"])), **texts)


def refuse_foreign(folder: Path) -> None:
    """Look at a folder that is about to be replaced.

    Raises:
        InputError: It holds something that would be lost.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder that render may replace.")
    found = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    if found and RECORD not in found:
        raise InputError(
            f"{folder} is not empty and was not written by `kuberay-e2e render`: it holds {found[0]}. Render replaces "
            "the folder as a whole; give an empty one, or one that does not exist."
        )
    if foreign := [name for name in found if name not in PARTS]:
        raise InputError(
            f"{folder} holds {', '.join(foreign)}, which render did not write and would delete; move it elsewhere."
        )


def replace(folder: Path, files: Mapping[str, str]) -> None:
    """Write a folder beside the old one, and exchange the two.

    Args:
        folder: The folder.
        files: Text by path in the folder.

    Raises:
        InputError: The old folder holds something that render did not write.
        HarnessError: A file cannot be written; the old folder is as it was.
    """
    folder = folder.absolute()
    refuse_foreign(folder)
    target = folder.resolve()
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        new = temporary / "new"
        for name, text in files.items():
            file = new / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        _exchange(new, target, temporary / "old")
    except OSError as error:
        raise HarnessError(f"{folder} cannot be written: {error}. It is as it was before.") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _exchange(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
    elif not _exchanged_at_once(new, target):
        target.rename(old)
        try:
            new.rename(target)
        except OSError:
            old.rename(target)
            raise


def _exchanged_at_once(first: Path, second: Path) -> bool:
    """Exchange two folders in one step, where kernel and file system can."""
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        return bool(rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE) == 0)
    return False
