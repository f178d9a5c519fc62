"""`kuberay-e2e gitops health`: health checks for Argo CD and Flux."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kuberay_e2e.errors import InputError


class EngineChoice(StrEnum):
    """The sync engines."""

    ARGOCD = "argocd"
    FLUX = "flux"


def health(
    engine: Annotated[EngineChoice | None, typer.Option(help="For this engine only; default: both.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write files into this folder; default: print them.")
    ] = None,
) -> None:
    """Write health checks of RayJob, RayCluster, RayService and Kueue's kinds for Argo CD (Lua) and Flux (CEL)."""
    from kuberay_e2e.gitops.health.documents import Engine, document

    engines = [Engine(engine)] if engine else list(Engine)
    documents = {chosen.file: document(chosen) for chosen in engines}
    if out is None:
        print("---\n".join(documents.values()), end="")
        return
    if out.exists() and not out.is_dir():
        raise InputError(f"Expected --out to name a folder, but {out} is a file. Name another.")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (out / name).write_text(text)
        print(out / name)
