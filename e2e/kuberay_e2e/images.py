"""`kuberay-e2e images`: the container images of a real cluster, taken from a registry or made on this machine."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.images import Images
from kuberay_toolchain.images.archive import qualified
from kuberay_toolchain.toolchain import Toolchain

_PULL_SECONDS = 1800.0

app = typer.Typer(no_args_is_help=True, help=__doc__)


def images_of(toolchain: Toolchain, engine: ContainerEngine | None = None) -> Images:
    """The images, made with the programs of a toolchain.

    Args:
        toolchain: Finds and builds programs.
        engine: Asked for Ray's official image, where it reaches a container registry; None: made here.
    """

    def pull(reference: str, archive: Path) -> bool:
        return engine is not None and reference.startswith("rayproject/") and pulled(engine, reference, archive)

    return Images(toolchain, pull)


def pulled(engine: ContainerEngine, reference: str, archive: Path) -> bool:
    """Fetch an image from its registry into an archive.

    Args:
        engine: Fetches it, and does not keep it.
        reference: Name and tag.
        archive: The docker-archive to write.

    Returns:
        False where the registry cannot be reached or has no such image.
    """
    name = qualified(reference)
    try:
        engine.run("pull", "--quiet", name, seconds=_PULL_SECONDS)
    except HarnessError:
        return False
    try:
        engine.run("save", "--output", str(archive), name, seconds=_PULL_SECONDS)
    finally:
        engine.run("rmi", name)
    return True


@app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME…]", help="Which; default: all of a kind cluster, not `harness`."),
    ] = None,
    pull: Annotated[bool, typer.Option(help="Take Ray's official image where a registry is reachable.")] = False,
) -> None:
    """Make the images that are missing: node and Ray need root and debootstrap, the others nothing."""
    toolchain = Toolchain()
    images = images_of(toolchain, ContainerEngine.detect() if pull else None)
    _show([(image.name, image.reference, image.archive) for image in images.ensure(*_wanted(images, names)).values()])


@app.command("list")
def list_images(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME…]", help="Which; default: all of a kind cluster, not `harness`."),
    ] = None,
    check: Annotated[bool, typer.Option(help="End with exit code 1 where one is missing.")] = False,
) -> None:
    """Say which images are in the cache."""
    images = images_of(Toolchain())
    found = [(name, images.find(name)) for name in _wanted(images, names)]
    _show([(name, image.reference, image.archive) if image else (name, "", None) for name, image in found])
    raise typer.Exit(int(check and any(image is None for _, image in found)))


def _wanted(images: Images, names: list[str] | None) -> list[str]:
    return list(dict.fromkeys(names or images.names()))


def _show(rows: list[tuple[str, str, Path | None]]) -> None:
    table = Table("image", "reference", "MiB", "archive")
    table.columns[3].overflow = "fold"
    for name, reference, archive in rows:
        size = str(archive.stat().st_size // 2**20) if archive else ""
        table.add_row(name, reference, size, str(archive) if archive else "not made yet")
    Console(width=160).print(table)
