"""Where things are kept that can always be made again."""

import os
import tempfile
from pathlib import Path

import pytest

from pulumi_kuberay.cache import cache_folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_it_is_below_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder("crds") == tmp_path / "cache" / "pulumi-kuberay" / "crds"
    assert cache_folder("crds").is_dir()


def test_a_cache_that_cannot_be_made_is_stood_for(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    folder = cache_folder("crds")
    assert folder == cache_folder("crds") == temporary / f"pulumi-kuberay-{os.getuid()}" / "crds"
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_a_folder_of_another_user_is_not_trusted(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (temporary / f"pulumi-kuberay-{os.getuid() + 1}").mkdir()
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.raises(PermissionError, match="Set XDG_CACHE_HOME to another folder"):
        cache_folder("crds")
