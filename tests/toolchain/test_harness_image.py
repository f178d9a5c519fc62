"""The image of the harness: a toolchain in it finds its programs, and it is another image when the project changes."""

from __future__ import annotations

import json
import tarfile
import tomllib
from pathlib import Path

import pytest

from kuberay_e2e.crash.lives import BEFORE_UPGRADE
from kuberay_e2e.session import PROGRAMS, operator_program
from kuberay_toolchain import Silent, Toolchain
from kuberay_toolchain.errors import ImageFailed, UnknownProgram
from kuberay_toolchain.images import Images, debian, harness, harness_layers, store
from kuberay_toolchain.images.catalogue import HARNESS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A cache with a file for everything that the image holds."""
    monkeypatch.setenv("PATH", "/nowhere")
    toolchain = Toolchain(cache=tmp_path / "cache", progress=Silent())
    for name in HARNESS.programs:
        program = toolchain.select(name)
        for file in (program.name, *(file.name for file in program.beside)):
            executable(toolchain.entry(program) / "bin" / file, f"{name} {file}")
        for module_file in program.files:
            executable(toolchain.entry(program) / "files" / module_file.name / "some" / "file", name)
    return toolchain


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def small_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Packages of one file each, in a checkout."""
    root = tmp_path / "checkout"
    for package in harness_layers.PACKAGES:
        executable(root / "e2e" / package / "__init__.py", f'"""{package}."""\n')
        executable(root / "e2e" / package / "__pycache__" / "__init__.pyc", "compiled")
    executable(root / "stacks" / "__main__.py", "print('stack')\n")
    monkeypatch.setattr(harness_layers, "_folder", lambda package: root / "e2e" / package)
    return root


def test_a_toolchain_in_the_image_finds_every_program_that_a_sweep_needs(tmp_path: Path, toolchain: Toolchain) -> None:
    layer = harness_layers.programs_layer(tmp_path / "programs.tar", toolchain)
    with tarfile.open(layer) as tar:
        tar.extractall(tmp_path / "image", filter="data")
    cache = tmp_path / "image" / HARNESS.settings.env["XDG_CACHE_HOME"].lstrip("/") / "pulumi-kuberay"
    inside = Toolchain(cache=cache, progress=Silent())
    needed = (*PROGRAMS, operator_program(BEFORE_UPGRADE))
    found = inside.ensure(*needed)
    assert all(path.is_relative_to(cache) for path in found.values())
    for name in ("kuberay-operator", operator_program(BEFORE_UPGRADE)):
        assert (inside.files(name) / "config" / "some" / "file").read_text() == name
    assert (found["pulumi"].parent / "pulumi-language-python").exists()
    assert (found["pulumi"].parent / "pulumi-language-python-exec").exists()


def test_the_project_is_in_it_as_a_wheel_would_hold_it() -> None:
    files = harness_layers.project()
    assert {"kuberay_e2e/cli.py", "kuberay_e2e/stacks/__main__.py", "pulumi_kuberay/pulumi-plugin.json"} <= files.keys()
    assert "kuberay_e2e/crash/report/templates/page.html.j2" in files
    assert not [path for path in files if "__pycache__" in path]


def test_its_tag_changes_with_the_project(small_project: Path) -> None:
    before = harness_layers.project_key()
    executable(small_project / "e2e" / "kuberay_e2e" / "__pycache__" / "more.pyc", "compiled")
    assert harness_layers.project_key() == before
    for path in ("e2e/kuberay_e2e/new.py", "stacks/__main__.py"):
        executable(small_project / path, "changed = True\n")
        assert harness_layers.project_key() != before
        before = harness_layers.project_key()


def test_a_project_without_its_pulumi_program_is_refused(small_project: Path) -> None:
    (small_project / "stacks" / "__main__.py").unlink()
    with pytest.raises(ImageFailed, match=r"Expected the Pulumi program in .*it is in neither"):
        harness_layers.project()


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_layers, "PACKAGES", ("kuberay_absent",))
    with pytest.raises(ImageFailed, match="kuberay_absent, which is not installed here"):
        harness_layers.project_key()


def test_it_is_made_for_those_only_who_ask_for_it(tmp_path: Path) -> None:
    images = Images(Toolchain(cache=tmp_path, progress=Silent()))
    assert "harness" not in images.names()
    assert images.find("harness") is None
    with pytest.raises(UnknownProgram, match=r"the images are .*node, harness\."):
        images.find("busybox")


def test_another_state_of_the_project_is_another_last_layer_only(
    small_project: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def pack(_: debian.DebianSystem, layer: Path) -> None:
        made.append(layer)
        with tarfile.open(layer, "w"):
            pass

    monkeypatch.setattr(store, "check_machine", lambda *_: None)
    monkeypatch.setattr(store, "download", lambda *_: None)
    monkeypatch.setattr(debian.DebianSystem, "install", lambda self, *_: (self.root / "tmp").mkdir(parents=True))
    monkeypatch.setattr(debian.DebianSystem, "run", lambda *_: None)
    monkeypatch.setattr(debian.DebianSystem, "pack", pack)
    first = Images(toolchain).ensure("harness")["harness"]
    layers = layers_of(first.archive)
    executable(small_project / "stacks" / "__main__.py", "print('another')\n")
    second = Images(toolchain).ensure("harness")["harness"]
    assert first.reference == f"pulumi-kuberay/harness:{first.archive.parent.name}" != second.reference
    assert len(made) == 1
    assert layers[:2] == layers_of(second.archive)[:2]
    assert layers[2] != layers_of(second.archive)[2]
    assert not first.archive.exists()


def layers_of(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        content = tar.extractfile("manifest.json")
        assert content is not None
        layers: list[str] = json.load(content)[0]["Layers"]
        return layers


def test_its_packages_are_those_of_the_lock_and_each_has_its_hash() -> None:
    locked = pins(ROOT / "requirements.lock")
    inside = pins(harness.REQUIREMENTS)
    assert {name: version for name, version in inside.items() if locked.get(name, version) != version} == {}
    assert harness.REQUIREMENTS.read_text().count("--hash=sha256:") >= len(inside)


def test_nothing_that_a_sweep_on_simulated_pods_imports_is_left_out() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["e2e"]]
    names = {
        "".join(letter if letter.isalnum() or letter in "-_" else " " for letter in line).split()[0] for line in wanted
    }
    assert names - pins(harness.REQUIREMENTS).keys() == {"ray", "pulumi-policy"}


def pins(file: Path) -> dict[str, str]:
    """Versions by name."""
    lines = [line.split()[0] for line in file.read_text().splitlines() if "==" in line and line[0].isalpha()]
    return dict(line.split("==") for line in lines)
