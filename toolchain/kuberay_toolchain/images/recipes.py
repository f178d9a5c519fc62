"""What an image is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kuberay_toolchain.images.archive import Settings


@dataclass(frozen=True)
class ProgramImage:
    """An image that holds programs and nothing else: it needs neither root nor a distribution.

    Attributes:
        name: Its name here.
        reference: Name and tag that pods use.
        programs: Path in the image by name in the toolchain, such as `kuberay-operator@1.5.1`.
        settings: How its containers run.
        folders: Permissions of further folders, by path.
        tools: Names of programs that are taken from the node's file system, with the libraries that they load.
    """

    name: str
    reference: str
    programs: Mapping[str, str]
    settings: Settings
    folders: Mapping[str, int] = field(default_factory=dict)
    tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemImage:
    """An image that is a Debian system, made by debootstrap: it needs root and Debian's packages.

    Attributes:
        name: Its name here.
        reference: Name and tag that pods use.
        suite: Debian's release.
        packages: Packages beside those of a minimal system.
        settings: How its containers run.
        disk_mib: Free disk space in MiB that making it needs.
        programs: Programs of the toolchain that it holds, by name.
        contents: Images that it holds in containerd's store.
    """

    name: str
    reference: str
    suite: str
    packages: tuple[str, ...]
    settings: Settings
    disk_mib: int
    programs: tuple[str, ...] = ()
    contents: tuple[ProgramImage, ...] = ()


@dataclass(frozen=True)
class Image:
    """An image that is there.

    Attributes:
        name: Its name here, such as `ray`.
        reference: Name and tag that pods use, such as `rayproject/ray:2.52.0`.
        archive: The tar file that engines and containerd load.
    """

    name: str
    reference: str
    archive: Path
