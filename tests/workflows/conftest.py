"""The repository that the scripts of the workflows run in."""

import shutil
import sys
from pathlib import Path

import pytest

from .documents import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this repository's files, set up with the virtual environment of the tests."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "report", "reports", "__pycache__"))
    (folder / ".venv").mkdir()
    for part in Path(sys.prefix).iterdir():
        (folder / ".venv" / part.name).symlink_to(part)
    ready = folder / ".venv" / ".ready"
    ready.unlink(missing_ok=True)
    ready.touch()
    return folder
