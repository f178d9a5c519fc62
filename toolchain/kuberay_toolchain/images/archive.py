"""Image archives as `docker save` writes them: layers, a configuration and a manifest in one tar file.

The format is that of the Docker Image Specification v1.2, which Docker, podman and containerd load. Archives of the
same content are the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_EPOCH = "1970-01-01T00:00:00Z"
_CHUNK = 1024 * 1024


def architecture() -> str:
    """This machine's architecture in the words of container images, such as `amd64`."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


@dataclass(frozen=True)
class Settings:
    """How a container of an image runs.

    Attributes:
        entrypoint: The program and its arguments.
        env: Environment variables.
        user: User name or number; empty: root.
        workdir: Working folder.
        stop_signal: The signal that ends it; empty: SIGTERM.
    """

    entrypoint: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    workdir: str = "/"
    stop_signal: str = ""

    def configuration(self, diff_ids: Sequence[str]) -> dict[str, object]:
        """The image's configuration.

        Args:
            diff_ids: Digests of its uncompressed layers, in order, such as `sha256:…`.
        """
        config: dict[str, object] = {"WorkingDir": self.workdir}
        if self.entrypoint:
            config["Entrypoint"] = list(self.entrypoint)
        if self.env:
            config["Env"] = [f"{name}={value}" for name, value in self.env.items()]
        if self.user:
            config["User"] = self.user
        if self.stop_signal:
            config["StopSignal"] = self.stop_signal
        return {
            "architecture": architecture(),
            "os": "linux",
            "created": _EPOCH,
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": list(diff_ids)},
            "history": [{"created": _EPOCH, "created_by": "pulumi-kuberay"} for _ in diff_ids],
        }


def write_layer(target: Path, files: Mapping[str, Path], folders: Mapping[str, int] | None = None) -> Path:
    """Write a layer of single files, owned by root, of time zero.

    Args:
        target: The tar file.
        files: Where each file comes from, by its absolute path in the image. Symbolic links stay links.
        folders: Permissions of folders, by their absolute path; folders of files are made with 0755.
    """
    wanted = {parent: 0o755 for name in files for parent in _parents(name)}
    wanted |= {name.strip("/"): mode for name, mode in (folders or {}).items()}
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, mode in sorted(wanted.items()):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
        for name, source in sorted(files.items()):
            entry = tarfile.TarInfo(name.strip("/"))
            if source.is_symlink():
                entry.type, entry.linkname = tarfile.SYMTYPE, str(source.readlink())
                tar.addfile(entry)
                continue
            entry.size, entry.mode = source.stat().st_size, 0o755 if os.access(source, os.X_OK) else 0o644
            with source.open("rb") as content:
                tar.addfile(entry, content)
    return target


def write_archive(target: Path, reference: str, layers: Iterable[Path], settings: Settings) -> None:
    """Write an image.

    Args:
        target: The archive.
        reference: Its name and tag, such as `rayproject/ray:2.52.0`.
        layers: Uncompressed layers, the lowest first.
        settings: How its containers run.
    """
    digests = [(layer, _digest(layer)) for layer in layers]
    config = _json(settings.configuration([f"sha256:{digest}" for _, digest in digests]))
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [
        {
            "Config": name,
            "RepoTags": [qualified(reference)],
            "Layers": [f"{digest}/layer.tar" for _, digest in digests],
        },
    ]
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, "manifest.json", _json(manifest))
        _add(tar, name, config)
        for layer, digest in digests:
            entry = tarfile.TarInfo(f"{digest}/layer.tar")
            entry.size, entry.mode = layer.stat().st_size, 0o644
            with layer.open("rb") as content:
                tar.addfile(entry, content)


def read_reference(archive: Path) -> str:
    """The name and tag that an archive gives its image."""
    with tarfile.open(archive) as tar:
        content = tar.extractfile("manifest.json")
        assert content is not None
        reference: str = json.load(content)[0]["RepoTags"][0]
        return reference


def qualified(reference: str) -> str:
    """A reference with its registry: Docker's own, where it names none.

    podman would put its own `localhost/` before a name without one, and containerd Docker's.
    """
    host, slash, _ = reference.partition("/")
    named = slash and ("." in host or ":" in host or host == "localhost")
    return reference if named else f"docker.io/{reference}"


def _parents(name: str) -> list[str]:
    parts = name.strip("/").split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    tar.addfile(entry, io.BytesIO(content))
