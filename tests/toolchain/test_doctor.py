"""The doctor tells what is there, what can be built and what is missing, and changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_toolchain import Program, Silent, Toolchain
from kuberay_toolchain.doctor import Finding, State, examine, exit_code


def by_subject(toolchain: Toolchain) -> dict[str, Finding]:
    return {finding.subject: finding for finding in examine(toolchain)}


def test_what_is_not_there_can_be_built(toolchain: Toolchain) -> None:
    findings = by_subject(toolchain)
    assert list(findings) == ["greeter", "waver", "go", "disk space"]
    assert findings["greeter"].state is State.BUILDABLE
    assert "python -m kuberay_toolchain greeter" in findings["greeter"].advice
    assert findings["go"].state is State.FOUND
    assert findings["disk space"].wanted == ">= 1 MiB"
    assert not toolchain.cache.exists()


def test_what_was_built_is_found(toolchain: Toolchain) -> None:
    path = toolchain.ensure("greeter")["greeter"]
    assert by_subject(toolchain)["greeter"] == Finding("greeter", "1.2.3", State.FOUND, f"{path} (cache)")


def test_without_go_and_an_installer_programs_are_missing(
    toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    findings = by_subject(toolchain)
    assert findings["go"].advice == "install Go 1.21 or newer and put it on the PATH"
    assert findings["greeter"].state is State.MISSING
    assert findings["greeter"].advice == "it cannot be built here: see go"


def test_without_go_the_packaged_one_will_do(toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    findings = by_subject(toolchain)
    assert findings["go"].state is State.BUILDABLE
    assert findings["greeter"].state is State.BUILDABLE


def test_a_bad_given_path_is_missing_with_the_reason(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    toolchain = Toolchain({"waver": tmp_path / "nowhere"}, tmp_path / "cache", Silent(), programs)
    finding = by_subject(toolchain)["waver"]
    assert finding.state is State.MISSING
    assert "is not a file" in finding.advice


def test_too_little_disk_space_makes_programs_missing(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    huge = replace(programs[0], module=replace(programs[0].module, disk_mib=2**40))
    findings = by_subject(Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[huge]))
    assert findings["disk space"].state is State.MISSING
    assert findings["greeter"].advice == "it cannot be built here: see disk space"


@pytest.mark.parametrize(
    ("states", "code"),
    [([], 0), ([State.FOUND, State.BUILDABLE], 0), ([State.FOUND, State.MISSING], 1)],
)
def test_the_exit_code_is_one_only_if_something_is_missing(states: list[State], code: int) -> None:
    assert exit_code([Finding("x", "1", state) for state in states]) == code
