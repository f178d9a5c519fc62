"""The output folder is replaced as a whole, or stays as it was."""

from pathlib import Path

import pytest

from kuberay_e2e.errors import HarnessError, InputError
from kuberay_e2e.gitops import folder
from tests.gitops.stacks import declared, namespace, small_stack, write


def names(place: Path) -> set[str]:
    return {str(file.relative_to(place)) for file in place.rglob("*") if file.is_file()}


def test_what_is_no_longer_declared_is_gone(tmp_path: Path) -> None:
    out = write(tmp_path / "out", small_stack())
    write(out, declared(namespace()))
    assert names(out) == {
        "kuberay-render.json",
        "objects/00-namespaces/kustomization.yaml",
        "objects/00-namespaces/namespace-ml.yaml",
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"is not empty and was not written by .*: it holds notes.txt"):
        write(tmp_path, small_stack())
    assert names(tmp_path) == {"notes.txt"}


def test_a_file_of_somebody_else_is_not_lost(tmp_path: Path) -> None:
    out = write(tmp_path / "out", small_stack())
    (out / "README.md").write_text("mine")
    with pytest.raises(InputError, match=r"holds README\.md, which render did not write"):
        write(out, small_stack())
    assert "README.md" in names(out)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "out", small_stack())


def test_a_write_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    out = write(tmp_path / "out", small_stack())
    before = {name: (out / name).read_bytes() for name in names(out)}
    with pytest.raises(HarnessError, match="It is as it was before"):
        folder.replace(out, {folder.RECORD: "{}", f"objects/{'a' * 300}": "too long for any file system"})
    assert {name: (out / name).read_bytes() for name in names(out)} == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_without_an_exchange_in_one_step_the_folder_is_replaced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_exchanged_at_once", lambda *_: False)
    out = write(tmp_path / "out", small_stack())
    write(out, declared(namespace()))
    assert "objects/40-queues/kustomization.yaml" not in names(out)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", small_stack())
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", declared(namespace()))
    assert (tmp_path / "link").is_symlink()
    assert "objects/40-queues/kustomization.yaml" not in names(tmp_path / "real")
