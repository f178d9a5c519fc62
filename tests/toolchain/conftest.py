"""A tiny Go module in the place of the real programs, which take minutes to build."""

from __future__ import annotations

import os
import shutil
import stat
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from kuberay_toolchain import GoModule, Probe, Program, Silent, Toolchain

VERSION = "1.2.3"
_ANSWER = Probe(("--version",), r"version (\S+)")


@pytest.fixture
def module(tmp_path: Path) -> GoModule:
    """A Go module with two commands, `greeter` and `waver`, that tell their version and need nothing."""
    if shutil.which("go") is None:
        pytest.skip("there is no go on the PATH")
    folder = tmp_path / "modules" / "greetings"
    for name in ("greeter", "waver"):
        (folder / name).mkdir(parents=True)
        (folder / name / "main.go").write_text(
            textwrap.dedent("""\
                package main

                import "os"

                var version string

                func main() { os.Stdout.WriteString("version " + version + "\\n") }
                """)
        )
    (folder / "go.mod").write_text("module example.com/greetings\n\ngo 1.21\n")
    return GoModule(folder, (f"-X main.version={VERSION}",), disk_mib=1)


@pytest.fixture
def programs(module: GoModule) -> tuple[Program, ...]:
    return tuple(
        Program(name, VERSION, module, f"example.com/greetings/{name}", _ANSWER) for name in ("greeter", "waver")
    )


@pytest.fixture
def toolchain(tmp_path: Path, programs: tuple[Program, ...]) -> Toolchain:
    return Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=programs)


@pytest.fixture
def put_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Write a shell script into a folder that comes first on the PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, script: str) -> Path:
        return executable(folder / name, script)

    return put


def executable(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
