"""Images in the cache: found, or made from their parts."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

from kuberay_toolchain.building import free_mib
from kuberay_toolchain.errors import DiskFull, ImageFailed, UnknownProgram
from kuberay_toolchain.images import archive, catalogue, debian, harness, harness_layers, node, ray
from kuberay_toolchain.images.recipes import Image, ProgramImage, SystemImage
from kuberay_toolchain.images.wheels import download
from kuberay_toolchain.toolchain import Toolchain

Pull = Callable[[str, Path], bool]
"""Fetches an image by reference from a container registry into an archive; False where it cannot be had."""


class Images:
    """Finds images in the cache and makes those that are missing.

    Args:
        toolchain: Finds and builds the programs; its cache and progress are used.
        pull: Asked first for images that are whole systems, which take root and minutes to make; default: nobody.
    """

    def __init__(self, toolchain: Toolchain, pull: Pull | None = None) -> None:
        self._toolchain = toolchain
        self._pull = pull
        self._folder = toolchain.cache / "images"

    def names(self) -> list[str]:
        """The images of a kind cluster, by name; those that are made on request are not among them."""
        return [recipe.name for recipe in catalogue.IMAGES]

    def find(self, name: str) -> Image | None:
        """Find an image without making it.

        Raises:
            UnknownProgram: There is no image of that name.
        """
        recipe = self._recipe(name)
        target = self._archive(recipe)
        return self._image(recipe, target) if target.exists() else None

    def ensure(self, *names: str) -> Mapping[str, Image]:
        """Make images available, in the order in which they are asked for.

        Returns:
            The images by name.

        Raises:
            ToolchainError: One cannot be made; the subclass and the sentence say why.
        """
        found: dict[str, Image] = {}
        for name in names:
            recipe = self._recipe(name)
            target = self._archive(recipe)
            if not target.exists():
                self._make(recipe, target)
            found[name] = self._image(recipe, target)
        return found

    def _recipe(self, name: str) -> ProgramImage | SystemImage:
        recipes = (*catalogue.IMAGES, *catalogue.ON_REQUEST)
        for recipe in recipes:
            if recipe.name == name:
                return recipe
        names = ", ".join(recipe.name for recipe in recipes)
        raise UnknownProgram(f"There is no image called {name!r} here; the images are {names}.")

    def _image(self, recipe: ProgramImage | SystemImage, target: Path) -> Image:
        return Image(recipe.name, _reference(recipe, target.parent.name), target)

    def _archive(self, recipe: ProgramImage | SystemImage) -> Path:
        return self._folder / recipe.name / self._key(recipe) / "image.tar"

    def _key(self, recipe: ProgramImage | SystemImage) -> str:
        """A short hash of everything that shapes an image: its recipe, its programs and the code that makes it."""
        parts: list[ProgramImage | SystemImage] = [recipe]
        if isinstance(recipe, SystemImage):
            parts += recipe.contents
        makers = _makers(recipe)
        digest = hashlib.sha256(json.dumps([asdict(part) for part in parts], sort_keys=True).encode())
        for program in sorted({name for part in parts for name in part.programs}):
            digest.update(f"{program} {self._toolchain.select(program).cache_key}\n".encode())
        for maker in makers:
            digest.update(Path(str(maker.__file__)).read_bytes())
        if recipe.name == catalogue.RAY_IMAGE.name:
            digest.update(ray.REQUIREMENTS.read_bytes())
        if recipe is catalogue.HARNESS:
            digest.update(harness.REQUIREMENTS.read_bytes() + harness_layers.project_key().encode())
        return digest.hexdigest()[:12]

    def _make(self, recipe: ProgramImage | SystemImage, target: Path) -> None:
        task = f"making the image {recipe.reference}"
        with self._toolchain.workshop(f"image-{recipe.name}", task) as workshop:
            if target.exists():
                return
            made = workshop / "image.tar"
            if isinstance(recipe, ProgramImage):
                self._make_programs(recipe, made, workshop)
            elif recipe is catalogue.HARNESS:
                self._make_harness(recipe, made, workshop, task)
            elif not (self._pull is not None and self._pull(recipe.reference, made)):
                self._make_system(recipe, made, workshop, task)
            shutil.rmtree(self._folder / recipe.name, ignore_errors=True)
            target.parent.mkdir(parents=True)
            made.rename(target)
            self._toolchain.progress.finish(task, f"done, {target.stat().st_size // 2**20} MiB")

    def _make_programs(
        self, recipe: ProgramImage, target: Path, workshop: Path, tools: Mapping[str, Path] | None = None
    ) -> None:
        paths = self._toolchain.ensure(*recipe.programs)
        files = {path: paths[program] for program, path in recipe.programs.items()}
        layers = [archive.write_layer(workshop / f"{recipe.name}.layer", files, recipe.folders)]
        if tools:
            layers.insert(0, archive.write_layer(workshop / f"{recipe.name}-tools.layer", tools))
        archive.write_archive(target, recipe.reference, layers, recipe.settings)
        for layer in layers:
            layer.unlink()

    def _make_system(self, recipe: SystemImage, target: Path, workshop: Path, task: str) -> None:
        layer = self._system(recipe, workshop, task)
        self._toolchain.progress.update(task, "writing the archive")
        archive.write_archive(target, recipe.reference, [layer], recipe.settings)

    def _make_harness(self, recipe: SystemImage, target: Path, workshop: Path, task: str) -> None:
        """Put the image together; its system is kept, because the project changes more often than its packages."""
        layer = self._folder / f"{recipe.name}-system" / _system_key(recipe) / "layer.tar"
        if not layer.exists():
            made = self._system(recipe, workshop, task)
            shutil.rmtree(layer.parent.parent, ignore_errors=True)
            layer.parent.mkdir(parents=True)
            made.rename(layer)
        programs = harness_layers.programs_layer(workshop / "programs.tar", self._toolchain)
        key = self._key(recipe)
        project = harness_layers.project_layer(workshop / "project.tar", workshop)
        self._toolchain.progress.update(task, "writing the archive")
        archive.write_archive(target, _reference(recipe, key), [layer, programs, project], recipe.settings)

    def _system(self, recipe: SystemImage, workshop: Path, task: str) -> Path:
        """Make a system and pack it."""
        check_machine(recipe, workshop)
        log = self._toolchain.cache / "logs" / f"image-{recipe.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")
        progress = self._toolchain.progress
        programs = self._toolchain.ensure(
            *recipe.programs, *(name for part in recipe.contents for name in part.programs)
        )
        system = debian.DebianSystem(workshop / "root", task, log, progress)
        wheels = workshop / "wheels"
        wheels.mkdir()
        if recipe is catalogue.RAY_IMAGE:
            ray.download(wheels, log, task, progress)
        elif recipe is catalogue.HARNESS:
            download(harness.REQUIREMENTS, wheels, log, task, progress)
        system.install(recipe.suite, recipe.packages, self._toolchain.cache / "debian")
        if recipe is catalogue.RAY_IMAGE:
            ray.furnish(system, wheels)
        elif recipe is catalogue.HARNESS:
            harness.furnish(system, wheels)
        else:
            kind_files = self._toolchain.files("kind") / "base"
            node.furnish(system, kind_files, {name: programs[name] for name in recipe.programs})
            self._preload(recipe, system, workshop)
        layer = workshop / "layer.tar"
        system.pack(layer)
        shutil.rmtree(system.root)
        return layer

    def _preload(self, recipe: SystemImage, system: debian.DebianSystem, workshop: Path) -> None:
        archives = {}
        for part in recipe.contents:
            links = workshop / f"{part.name}-links"
            links.mkdir()
            tools = node.tools(system, part.tools, links) if part.tools else None
            archives[part.name] = workshop / f"{part.name}.tar"
            self._make_programs(part, archives[part.name], workshop, tools)
        node.preload(system, archives)
        for part_archive in archives.values():
            part_archive.unlink()


def _reference(recipe: ProgramImage | SystemImage, key: str) -> str:
    """Name and tag; what holds this project is tagged by its key, since it has no version of its own."""
    return f"{recipe.reference}:{key}" if recipe is catalogue.HARNESS else recipe.reference


def _system_key(recipe: SystemImage) -> str:
    """A short hash of everything that shapes the system of the harness's image."""
    parts = (recipe.suite, *recipe.packages, harness.REQUIREMENTS.read_text())
    texts = (*parts, *(Path(str(maker.__file__)).read_text() for maker in (debian, harness)))
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def _makers(recipe: ProgramImage | SystemImage) -> tuple[ModuleType, ...]:
    """The modules whose text shapes an image."""
    if isinstance(recipe, ProgramImage):
        return (archive,)
    return (archive, debian, harness) if recipe is catalogue.HARNESS else (archive, debian, node, ray)


def check_machine(recipe: SystemImage, folder: Path) -> None:
    """Refuse to make a system image where it cannot work, before anything is begun.

    Raises:
        ImageFailed: This is no Linux, the user is not root, or a tool is missing.
        DiskFull: There is too little space.
    """
    missing = [tool for tool in ("debootstrap", "unshare", "chroot", "tar") if shutil.which(tool) is None]
    if missing:
        raise ImageFailed(
            f"Making the image {recipe.reference} needs {', '.join(missing)}, which this machine does not have. On "
            "Debian or Ubuntu: apt-get install debootstrap util-linux."
        )
    if os.geteuid() != 0:
        raise ImageFailed(
            f"Making the image {recipe.reference} needs root (debootstrap makes device files and changes root); this "
            f"process is of user {os.geteuid()}. Run it as root, or reach a container registry."
        )
    if (free := free_mib(folder)) < recipe.disk_mib:
        raise DiskFull(
            f"Making the image {recipe.reference} needs {recipe.disk_mib} MiB below {folder}, but {free} MiB are free; "
            "free some space, or let XDG_CACHE_HOME name a folder on a larger disk."
        )
