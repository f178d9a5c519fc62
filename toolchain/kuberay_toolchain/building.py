"""Builds: one `go build` for several programs of one Go module, with progress and errors as sentences."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kuberay_toolchain.errors import BuildFailed, DiskFull, NoNetwork, ToolchainError
from kuberay_toolchain.golang import Go
from kuberay_toolchain.processes import run
from kuberay_toolchain.programs import GoModule, ModuleFile, Program, describe
from kuberay_toolchain.progress import Progress

_NETWORK = re.compile(
    r"dial tcp|no such host|module lookup disabled by GOPROXY=off|i/o timeout|connection refused"
    r"|connection reset|network is unreachable|TLS handshake|proxyconnect|x509:|net/http:"
    r"|502 Bad Gateway|503 Service Unavailable|unrecognized import path"
)
_DISK = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_TAIL_LINES = 12


@dataclass
class Build:
    """One build of programs of one module.

    Args:
        go: The Go to build with.
        module: The module.
        programs: What to build; all of that module.
        temp: An empty folder for everything that the build writes outside Go's own caches.
        log: Where the whole output is kept.
        progress: Hears how far the build is.
    """

    go: Go
    module: GoModule
    programs: Sequence[Program]
    temp: Path
    log: Path
    progress: Progress
    _output: list[str] = field(default_factory=list)
    _compiled: int = 0

    def __post_init__(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")

    @property
    def task(self) -> str:
        """What the build does, for progress lines."""
        return f"building {describe(self.programs)}"

    def run(self) -> Path:
        """Build the programs.

        Returns:
            A folder with one file per program, by the program's name.

        Raises:
            NoNetwork: If a module could not be fetched.
            DiskFull: If there is too little space, or it ran out.
            BuildFailed: On any other failure of `go build`.
        """
        self._check_disk()
        packages = [program.package for program in self.programs]
        total = self._fetch(packages)
        target = self.temp / "bin"
        target.mkdir()
        single = len(self.programs) == 1
        output = target / self.programs[0].name if single else target

        def tick() -> None:
            self.progress.update(self.task, f"{self._compiled} packages compiled, of at most {total}")

        def on_line(line: str) -> None:
            self._compiled += not line.startswith(("#", "go: ")) and " " not in line
            self._note(line)

        self._go(
            "build",
            "-v",
            "-trimpath",
            f"-p={os.cpu_count() or 1}",
            *self._overlay(),
            "-ldflags",
            " ".join(("-s -w", *self.module.ldflags)),
            "-o",
            f"{output}" if single else f"{output}{os.sep}",
            *packages,
            on_line=on_line,
            tick=tick,
        )
        return target

    def finish(self) -> None:
        """Say that the programs are built and in their place."""
        rest = "the rest were in Go's build cache"
        self.progress.finish(self.task, f"done: {self._compiled} packages compiled, {rest}")

    def copy(self, file: ModuleFile, target: Path) -> None:
        """Copy a file or folder of an upstream module to `target`, which must not exist.

        The copy is writable by its owner; Go's module cache is not.
        """
        source = self.module_folder(file.module) / file.path
        if source.is_dir():
            for folder, _, names in os.walk(source):
                copied = target / Path(folder).relative_to(source)
                copied.mkdir(parents=True)
                for name in names:
                    shutil.copyfile(Path(folder) / name, copied / name)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def module_folder(self, module: str) -> Path:
        """The folder of an upstream module in its pinned version, fetched if Go's cache does not have it."""
        answer: list[str] = []

        def on_line(line: str) -> None:
            self._note(line)
            if not line.startswith("go: "):
                answer.append(line)

        def tick() -> None:
            self.progress.update(self.task, f"fetching the module {module}")

        self._go("mod", "download", "-json", module, on_line=on_line, tick=tick)
        return Path(json.loads("\n".join(answer))["Dir"])

    def _fetch(self, packages: Sequence[str]) -> int:
        fetched, total = 0, 0

        def on_line(line: str) -> None:
            nonlocal fetched, total
            if line.startswith("go: downloading"):
                fetched += 1
                self._note(line)
            elif " " in line or ":" in line:
                self._note(line)
            else:
                total += 1

        def tick() -> None:
            self.progress.update(self.task, f"fetching modules, {fetched} so far")

        self._go("list", *self._overlay(), "-deps", *packages, on_line=on_line, tick=tick)
        return total

    def _overlay(self) -> list[str]:
        if not self.module.overlay:
            return []
        plan = self.temp / "overlay.json"
        if not plan.exists():
            replace = {
                str(self.module.folder / file.name): str(self.module_folder(file.module) / file.path)
                for file in self.module.overlay
            }
            plan.write_text(json.dumps({"Replace": replace}))
        return ["-overlay", str(plan)]

    def _go(self, *args: str, on_line: Callable[[str], None], tick: Callable[[], None]) -> None:
        code = run(
            [self.go.binary, *args],
            cwd=self.module.folder,
            env=self.go.environment(self.temp),
            on_line=on_line,
            tick=tick,
        )
        if code != 0:
            self.progress.finish(self.task, "failed")
            raise self._error(code)

    def _note(self, line: str) -> None:
        self._output.append(line)
        with self.log.open("a") as log:
            log.write(f"{line}\n")

    def _error(self, code: int) -> ToolchainError:
        output = "\n".join(self._output)
        what = describe(self.programs)
        tail = "\n".join(f"  {line}" for line in self._output[-_TAIL_LINES:])
        if _DISK.search(output):
            return DiskFull(
                f"The disk ran full while {what} was built; a build from nothing needs "
                f"{self.module.disk_mib} MiB for the module {self.module.name}. Free some space and run it "
                f"again: what was compiled is kept. The whole output is in {self.log}.\n{tail}"
            )
        if _NETWORK.search(output):
            return NoNetwork(
                f"{what} could not be built because a Go module could not be fetched; check the network and "
                f"GOPROXY (now {self.go.ask('GOPROXY')}). The whole output is in {self.log}.\n{tail}"
            )
        return BuildFailed(
            f"`go build` of {what} ended with exit code {code}. The whole output is in {self.log}; its last "
            f"lines are:\n{tail}"
        )

    def _check_disk(self) -> None:
        needed = self.module.disk_mib
        for folder in {self.go.ask("GOCACHE"), self.go.ask("GOMODCACHE"), str(self.temp)}:
            free = free_mib(Path(folder))
            if free < needed:
                raise DiskFull(
                    f"Building {describe(self.programs)} can need {needed} MiB below {folder}, but only "
                    f"{free} MiB are free; free some space, or let GOCACHE, GOMODCACHE and XDG_CACHE_HOME "
                    "name folders on a larger disk."
                )


def free_mib(folder: Path) -> int:
    """Free disk space in MiB where `folder` is, or would be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free // 2**20
