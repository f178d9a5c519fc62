"""Programs in their pinned versions: given, found on the PATH, kept in the cache, or built."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from kuberay_toolchain import golang, language_host
from kuberay_toolchain.building import Build
from kuberay_toolchain.errors import BuildFailed, GivenPathRejected
from kuberay_toolchain.locks import exclusive
from kuberay_toolchain.probes import ask_version
from kuberay_toolchain.programs import PROGRAMS, GoModule, Program, by_module, describe, select
from kuberay_toolchain.progress import Console, Progress

Source = Literal["given", "PATH", "cache"]


@dataclass(frozen=True)
class Found:
    """A program that is there.

    Attributes:
        program: The program.
        path: Its binary, as an absolute path.
        source: `given` by the caller, on the `PATH` in the right version, or in the `cache`.
    """

    program: Program
    path: Path
    source: Source


class Toolchain:
    """Finds programs and builds those that are missing.

    A name is that of a program (`etcd`: its default version) or of one version of it
    (`kuberay-operator@1.6.2`). The order of look-up is: a given path, the right version on the PATH, the
    cache, a build.

    Args:
        paths: Binaries that the caller wants to be used, by name; `go` too.
        cache: The folder for programs and Go; default: the user's cache folder of `pulumi-kuberay`, which
            XDG_CACHE_HOME moves.
        progress: Hears about builds; default: lines on standard error.
        programs: The catalogue.
    """

    def __init__(
        self,
        paths: Mapping[str, Path] | None = None,
        cache: Path | None = None,
        progress: Progress | None = None,
        programs: Sequence[Program] = PROGRAMS,
    ) -> None:
        given = {name: Path(path) for name, path in (paths or {}).items()}
        self.go = given.pop("go", None)
        self.cache = (cache or platformdirs.user_cache_path("pulumi-kuberay")).absolute()
        self.progress: Progress = progress or Console()
        self.programs = tuple(programs)
        self._given = {self.select(name): path for name, path in given.items()}

    def select(self, name: str) -> Program:
        """The catalogue's entry for a name.

        Raises:
            UnknownProgram: If there is none.
        """
        return select(self.programs, name)

    def find(self, name: str) -> Found | None:
        """Find a program without building it.

        Raises:
            UnknownProgram: If the catalogue has no such program.
            GivenPathRejected: If a path was given that cannot be used.
        """
        program = self.select(name)
        if program in self._given:
            return Found(program, _check_given(program, self._given[program]), "given")
        if on_path := _on_path(program):
            return Found(program, on_path, "PATH")
        binary = self._cached(program)
        return Found(program, binary, "cache") if binary.exists() else None

    def ensure(self, *names: str) -> Mapping[str, Path]:
        """Make programs available, building those that are missing; programs of one module in one build.

        A plugin in the cache lies then beside the cached program that loads it; one that was given or is on
        the PATH finds it on the PATH only.

        Returns:
            The absolute path of each binary, by the name it was asked for.

        Raises:
            ToolchainError: If one cannot be made available; the subclass and the sentence say why.
        """
        found = {name: self.find(name) for name in names}
        missing = [self.select(name) for name, hit in found.items() if hit is None]
        for module, programs in by_module([p for p in self.programs if p in missing]):
            self._build(module, programs)
        result: dict[str, Path] = {}
        for name in names:
            hit = found[name] or self.find(name)
            if hit is None:
                raise BuildFailed(
                    f"{name} was built and then removed from {self.cache} by somebody else; run it again."
                )
            if hit.source == "cache":
                _place_companions(hit.program, hit.path.parent)
            result[name] = hit.path
        self._link_plugins()
        return result

    def files(self, name: str) -> Path:
        """The folder with the files that a program's module ships for use at run time.

        They are fetched even if the program itself was given or is on the PATH.

        Returns:
            A folder in the cache; each `ModuleFile` of the program lies in it by its own name, such as
            `config` of the KubeRay operator.

        Raises:
            ToolchainError: If they cannot be fetched.
        """
        program = self.select(name)
        target = self.entry(program) / "files"
        if not target.exists():
            task = f"fetching the files of {program}"
            with self.workshop(program.module.name, task) as temp:
                if not target.exists():
                    build = self._new_build(program.module, [program], temp)
                    self._install_files(build, program)
                    self.progress.finish(build.task, "files fetched")
        return target

    def entry(self, program: Program) -> Path:
        """The cache folder of one program in one version and build recipe."""
        return self.cache / "programs" / program.name / program.cache_key

    @contextlib.contextmanager
    def workshop(self, name: str, purpose: str) -> Iterator[Path]:
        """An empty folder for work on one thing, under its lock, in the cache's own file system; it goes afterwards.

        Args:
            name: Name of the thing, unique in this cache.
            purpose: What is done, for others who wait for the lock.
        """
        root = self.cache / "unfinished" / name
        with exclusive(self.cache / "locks" / name, purpose, self.progress):
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(parents=True)
            try:
                yield root
            finally:
                shutil.rmtree(root, ignore_errors=True)

    def _link_plugins(self) -> None:
        """Link every plugin of the cache into the folder of the cached program that looks for it there."""
        for plugin in self.programs:
            binary = self._cached(plugin)
            if not plugin.plugin_of or not binary.exists():
                continue
            owner = self._cached(self.select(plugin.plugin_of))
            link = owner.with_name(plugin.name)
            if owner.exists() and not (link.is_symlink() and link.readlink() == binary):
                temp = link.with_name(f".{plugin.name}.{os.getpid()}")
                temp.unlink(missing_ok=True)
                temp.symlink_to(binary)
                temp.replace(link)

    def _cached(self, program: Program) -> Path:
        return self.entry(program) / "bin" / program.name

    def _build(self, module: GoModule, programs: Sequence[Program]) -> None:
        purpose = f"building {describe(programs)}"
        with self.workshop(module.name, purpose) as temp:
            missing = [p for p in programs if not self._cached(p).exists()]
            if not missing:
                return
            build = self._new_build(module, missing, temp)
            built = build.run()
            for program in missing:
                self._install(build, program, built / program.name)
                if program.files and not (self.entry(program) / "files").exists():
                    self._install_files(build, program)
            build.finish()

    def _new_build(self, module: GoModule, programs: Sequence[Program], temp: Path) -> Build:
        go = golang.ensure(module.go_version, self.cache, self.progress, self.go)
        log = self.cache / "logs" / f"{module.name}.log"
        return Build(go, module, programs, temp, log, self.progress)

    def _install(self, build: Build, program: Program, binary: Path) -> None:
        staged = build.temp / "staged" / program.name
        staged.mkdir(parents=True)
        binary.rename(staged / program.name)
        for file in program.beside:
            build.copy(file, staged / file.name)
        _place_companions(program, staged)
        target = self.entry(program) / "bin"
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.rename(target)

    def _install_files(self, build: Build, program: Program) -> None:
        staged = build.temp / "files" / program.name
        staged.mkdir(parents=True)
        for file in program.files:
            build.copy(file, staged / file.name)
        self.entry(program).mkdir(parents=True, exist_ok=True)
        staged.rename(self.entry(program) / "files")


def _check_given(program: Program, path: Path) -> Path:
    remedy = f"give a path to {program}, or none to have it found or built"
    if not path.is_file():
        raise GivenPathRejected(f"The given {program.name}, {path}, is not a file; {remedy}.")
    if not os.access(path, os.X_OK):
        raise GivenPathRejected(f"The given {program.name}, {path}, is not executable; {remedy}.")
    if program.probe is not None:
        version = ask_version(path, program.probe)
        if version != program.version:
            seen = f"is version {version}" if version else "does not answer with a version"
            raise GivenPathRejected(
                f"The given {program.name}, {path}, {seen} (asked by `{' '.join(program.probe.args)}`), but "
                f"{program.version} is needed; {remedy}."
            )
    for companion in program.companions:
        if not _has_companion(path, companion):
            raise GivenPathRejected(
                f"The given {program.name}, {path}, has no {companion} beside it, and none is on the PATH; {remedy}."
            )
    return path.absolute()


def _on_path(program: Program) -> Path | None:
    if program.probe is None or (hit := shutil.which(program.name)) is None:
        return None
    path = Path(hit).absolute()
    if not all(_has_companion(path, companion) for companion in program.companions):
        return None
    return path if ask_version(path, program.probe) == program.version else None


def _has_companion(path: Path, companion: str) -> bool:
    return (path.resolve().parent / companion).exists() or shutil.which(companion) is not None


def _place_companions(program: Program, folder: Path) -> None:
    """Write the Python language host beside `pulumi`; a newer text of it replaces an older one."""
    if language_host.NAME not in program.companions:
        return
    target, text = folder / language_host.NAME, Path(language_host.__file__).read_bytes()
    if target.exists() and target.read_bytes() == text:
        return
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{language_host.NAME}.", delete=False) as temp:
        temp.write(text)
    Path(temp.name).chmod(0o755)
    Path(temp.name).replace(target)
