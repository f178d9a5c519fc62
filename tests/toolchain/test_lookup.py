"""Where a program comes from: a given path, the PATH in the right version, the cache, a build."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_toolchain import PROGRAMS, Program, Silent, Toolchain, ToolchainError
from kuberay_toolchain.errors import GivenPathRejected, UnknownProgram
from kuberay_toolchain.programs import usual_names

from .conftest import VERSION, executable

Put = Callable[[str, str], Path]


def test_a_program_is_built_once_and_then_comes_from_the_cache(toolchain: Toolchain) -> None:
    assert toolchain.find("greeter") is None
    built = toolchain.ensure("greeter")["greeter"]
    answer = subprocess.run([built], capture_output=True, text=True, check=True)
    assert answer.stdout == f"version {VERSION}\n"
    changed = built.stat().st_mtime_ns
    assert toolchain.ensure("greeter")["greeter"] == built
    assert built.stat().st_mtime_ns == changed
    found = toolchain.find("greeter")
    assert found is not None and found.source == "cache"


def test_programs_of_one_module_are_built_together(toolchain: Toolchain) -> None:
    paths = toolchain.ensure("waver", "greeter")
    assert list(paths) == ["waver", "greeter"]
    assert all(path.name == name and path.is_absolute() for name, path in paths.items())


def test_the_right_version_on_the_path_comes_before_the_cache(toolchain: Toolchain, put_on_path: Put) -> None:
    toolchain.ensure("greeter")
    on_path = put_on_path("greeter", f"echo version {VERSION}")
    found = toolchain.find("greeter")
    assert found is not None and (found.path, found.source) == (on_path, "PATH")


@pytest.mark.parametrize("script", ["echo version 9.9.9", "echo hello", f"echo version {VERSION}; exit 3"])
def test_another_version_on_the_path_is_passed_over(toolchain: Toolchain, put_on_path: Put, script: str) -> None:
    put_on_path("greeter", script)
    assert toolchain.find("greeter") is None


def test_a_program_that_cannot_tell_its_version_is_never_taken_from_the_path(
    tmp_path: Path, programs: tuple[Program, ...], put_on_path: Put
) -> None:
    put_on_path("greeter", f"echo version {VERSION}")
    silent = replace(programs[0], probe=None)
    assert Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[silent]).find("greeter") is None


def test_a_given_path_comes_before_the_path(tmp_path: Path, programs: tuple[Program, ...], put_on_path: Put) -> None:
    put_on_path("greeter", f"echo version {VERSION}")
    given = executable(tmp_path / "mine", f"echo version {VERSION}")
    toolchain = Toolchain({"greeter": given}, tmp_path / "cache", Silent(), programs)
    found = toolchain.find(f"greeter@{VERSION}")
    assert found is not None and (found.path, found.source) == (given, "given")


def test_a_given_path_must_be_a_file(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    toolchain = Toolchain({"greeter": tmp_path / "nowhere"}, tmp_path / "cache", Silent(), programs)
    with pytest.raises(GivenPathRejected, match=r"nowhere, is not a file; give a path to greeter 1\.2\.3"):
        toolchain.ensure("greeter")


def test_a_given_path_must_be_executable(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    (tmp_path / "text").write_text("")
    toolchain = Toolchain({"greeter": tmp_path / "text"}, tmp_path / "cache", Silent(), programs)
    with pytest.raises(GivenPathRejected, match="is not executable"):
        toolchain.ensure("greeter")


def test_a_given_path_must_answer_the_pinned_version(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    given = executable(tmp_path / "old", "echo version 1.0.0")
    toolchain = Toolchain({"greeter": given}, tmp_path / "cache", Silent(), programs)
    with pytest.raises(GivenPathRejected, match=r"is version 1\.0\.0 .*but 1\.2\.3 is needed"):
        toolchain.find("greeter")


def test_a_program_on_the_path_without_its_companion_is_passed_over(
    tmp_path: Path, programs: tuple[Program, ...], put_on_path: Put
) -> None:
    put_on_path("greeter", f"echo version {VERSION}")
    pair = replace(programs[0], companions=("greeter-helper",))
    toolchain = Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[pair])
    assert toolchain.find("greeter") is None
    put_on_path("greeter-helper", "true")
    assert toolchain.find("greeter") is not None


def test_two_versions_of_a_program_stand_side_by_side(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    newer = replace(programs[0], version="2.0.0", module=replace(programs[0].module, ldflags=()))
    toolchain = Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[*programs, newer])
    paths = toolchain.ensure("greeter", "greeter@2.0.0")
    assert paths["greeter"] != paths["greeter@2.0.0"]


def test_a_change_of_the_build_recipe_makes_another_cache_entry(programs: tuple[Program, ...]) -> None:
    program = programs[0]
    relinked = replace(program, module=replace(program.module, ldflags=("-X main.version=other",)))
    before = program.cache_key
    assert relinked.cache_key != before
    (program.module.folder / "go.sum").write_text("\n")
    assert program.cache_key != before


@pytest.mark.parametrize(
    ("name", "message"),
    [("gretter", "no program called 'gretter'"), ("greeter@7", r"no greeter in version 7 .* 1\.2\.3")],
)
def test_an_unknown_name_is_an_error_that_tells_the_known_ones(toolchain: Toolchain, name: str, message: str) -> None:
    with pytest.raises(UnknownProgram, match=message):
        toolchain.ensure(name)
    with pytest.raises(ToolchainError):
        Toolchain({name: Path("x")}, programs=toolchain.programs)


def test_a_plugin_lies_beside_the_cached_program_that_loads_it(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    owner, other = programs
    plugin = replace(other, plugin_of=owner.name)
    toolchain = Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[owner, plugin])
    built = toolchain.ensure(plugin.name)[plugin.name]
    folder = toolchain.ensure(owner.name)[owner.name].parent
    assert (folder / plugin.name).resolve() == built
    (folder / plugin.name).unlink()
    (folder / plugin.name).write_text("an older one")
    toolchain.ensure(owner.name)
    assert (folder / plugin.name).resolve() == built


def test_what_is_usual_leaves_out_what_is_made_on_request(programs: tuple[Program, ...]) -> None:
    greeter, waver = programs
    older = replace(greeter, version="1.0.0")
    assert usual_names([greeter, replace(waver, on_request=True), older]) == ["greeter", "greeter@1.0.0"]


def test_the_usual_programs_are_those_that_the_tests_need() -> None:
    usual = usual_names(PROGRAMS)
    assert {"kueue", "kuberay-operator", "kuberay-operator@1.5.1", "kuberay-validation", "pulumi"} <= set(usual)
    assert "kubeconform" not in usual


def test_every_file_of_the_catalogue_comes_from_a_pinned_module() -> None:
    for program in PROGRAMS:
        pins = (program.module.folder / "go.mod").read_text().split()
        for file in (*program.files, *program.beside, *program.module.overlay):
            assert file.module in pins, f"{program}: {file.module}"


def test_every_program_of_the_catalogue_has_a_pinned_module() -> None:
    for program in PROGRAMS:
        if "require" in (program.module.folder / "go.mod").read_text():
            assert (program.module.folder / "go.sum").stat().st_size > 0, program
        assert program.module.go_version.startswith("1."), program
        if program.package != ".":
            assert program.package in (program.module.folder / "go.mod").read_text(), program
