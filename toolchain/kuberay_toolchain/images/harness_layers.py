"""The image of the harness: a Debian system with Python, the programs of the embedded control plane, this project.

It has three layers, so that another state of the project is another last layer only: the system with the Python
packages, the programs in a cache of the toolchain, and the project as a wheel of it would hold it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from kuberay_toolchain.errors import ImageFailed
from kuberay_toolchain.images.archive import write_layer
from kuberay_toolchain.images.catalogue import HARNESS
from kuberay_toolchain.toolchain import Toolchain

PACKAGES = ("kuberay_model", "pulumi_kuberay", "kuberay_e2e", "kuberay_toolchain")
"""Packages of the project that are in the image."""

_DISTRIBUTION = "pulumi-kuberay"
_PROGRAM = ("kuberay_e2e", "stacks")
"""The Pulumi program: a folder of this package where it was installed, a folder of the checkout else."""

_SITE = "/usr/local/lib/python3.11/dist-packages"
_COMMAND = "/usr/local/bin/kuberay-e2e"
_COMMAND_TEXT = """#!/usr/bin/python3
import sys

from kuberay_e2e.cli import main

sys.exit(main())
"""


def programs_layer(target: Path, toolchain: Toolchain) -> Path:
    """Write the layer of the programs: a cache of the toolchain in which nothing is missing.

    Args:
        target: The tar file.
        toolchain: Has the programs, or builds them.

    Raises:
        ToolchainError: A program is missing and cannot be made.
    """
    names = HARNESS.programs
    paths = toolchain.ensure(*names)
    files: dict[str, Path] = {}
    for name in names:
        program = toolchain.select(name)
        entry = f"{HARNESS.settings.env['XDG_CACHE_HOME']}/{_DISTRIBUTION}/programs/{program.name}/{program.cache_key}"
        files[f"{entry}/bin/{program.name}"] = paths[name].resolve()
        for companion in (*program.companions, *(file.name for file in program.beside)):
            files[f"{entry}/bin/{companion}"] = _companion(paths[name], companion)
        if program.files:
            folder = toolchain.files(name)
            files |= {f"{entry}/files/{path}": source for path, source in _files_below(folder).items()}
    return write_layer(target, files)


def project_layer(target: Path, workshop: Path) -> Path:
    """Write the layer of the project.

    Args:
        target: The tar file.
        workshop: A folder for files that are made.

    Raises:
        ImageFailed: The project is not installed beside the toolchain.
    """
    files = {f"{_SITE}/{path}": source for path, source in project().items()}
    command = workshop / "kuberay-e2e"
    command.write_text(_COMMAND_TEXT)
    command.chmod(0o755)
    files[_COMMAND] = command
    version, metadata = _metadata()
    described = workshop / "METADATA"
    described.write_text(metadata, encoding="utf-8")
    files[f"{_SITE}/{_DISTRIBUTION.replace('-', '_')}-{version}.dist-info/METADATA"] = described
    return write_layer(target, files)


def project_key() -> str:
    """A hash of the project as the image holds it.

    Raises:
        ImageFailed: The project is not installed beside the toolchain.
    """
    digest = hashlib.sha256(_COMMAND_TEXT.encode())
    for path, source in sorted(project().items()):
        digest.update(f"{path}\0".encode() + hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()


def project() -> Mapping[str, Path]:
    """The files of the project as a wheel of it holds them: where each is, by its path below the site's folder.

    Raises:
        ImageFailed: The project is not installed beside the toolchain.
    """
    files: dict[str, Path] = {}
    for package in PACKAGES:
        files |= {f"{package}/{path}": source for path, source in _files_below(_folder(package)).items()}
    package, program = _PROGRAM
    if f"{package}/{program}/__main__.py" not in files:
        checkout = _folder(package).parents[1] / program
        if not (checkout / "__main__.py").exists():
            raise ImageFailed(
                f"Expected the Pulumi program in {_folder(package) / program} or in {checkout}; it is in neither. "
                f"Install {_DISTRIBUTION} again."
            )
        files |= {f"{package}/{program}/{path}": source for path, source in _files_below(checkout).items()}
    return files


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImageFailed(
            f"The image of the harness holds the package {package}, which is not installed here. Install "
            f"{_DISTRIBUTION} with its extra e2e."
        )
    return Path(spec.submodule_search_locations[0]).resolve()


def _metadata() -> tuple[str, str]:
    try:
        found = distribution(_DISTRIBUTION)
    except PackageNotFoundError:
        raise ImageFailed(f"{_DISTRIBUTION} is not installed here, so that its version is not known.") from None
    return found.version, found.read_text("METADATA") or ""


def _companion(binary: Path, name: str) -> Path:
    beside = binary.resolve().parent / name
    found = beside if beside.exists() else shutil.which(name)
    if found is None:
        raise ImageFailed(f"Expected {name} beside {binary} or on the PATH; it is at neither place.")
    return Path(found).resolve()


def _files_below(folder: Path) -> dict[str, Path]:
    """Files of a folder by their path in it, without what Python and tools leave there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and "__pycache__" not in parts and not any(part.startswith(".") for part in parts):
            found["/".join(parts)] = path.resolve()
    return found
