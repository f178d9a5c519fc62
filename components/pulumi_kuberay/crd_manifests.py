"""Where the CRDs of an operator release are read from, and what counts as one."""

import hashlib
import io
import json
import tarfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kuberay_model.yaml_loader import Loader
from pulumi_kuberay.cache import cache_folder, write_atomically
from pulumi_kuberay.errors import ArgumentError

Manifest = dict[str, Any]

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_DOWNLOAD_TIMEOUT_SECONDS = 60


def crds_from_folder(folder: Path) -> list[Manifest]:
    """Read every CRD from the YAML and JSON files of one folder.

    Args:
        folder: For example ``config/crd/bases`` of the operator's module. Sub-folders are not read.

    Returns:
        The CRDs in order of their names; other kinds (a ``kustomization.yaml``) are left out.

    Raises:
        ArgumentError: The folder does not exist, a file is not YAML, or there is no CRD in it.
    """
    if not folder.is_dir():
        raise ArgumentError(
            f"The folder of CRDs {str(folder)!r} does not exist; name a folder of YAML files, such as "
            f"config/crd/bases of the KubeRay operator's module."
        )
    files = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    return _crds_in(((str(path), path.read_bytes()) for path in files), str(folder))


def crds_from_chart(chart: Path) -> list[Manifest]:
    """Read the CRDs that a Helm chart keeps in its ``crds/`` folder.

    Args:
        chart: An unpacked chart, or its packed ``.tgz`` file.

    Returns:
        The CRDs in order of their names.

    Raises:
        ArgumentError: The path is no chart, or the chart has no CRD.
    """
    if chart.is_file():
        return _crds_in(_chart_archive(chart.read_bytes(), str(chart)), str(chart))
    if not (chart / "Chart.yaml").is_file():
        raise ArgumentError(
            f"{str(chart)!r} is not a Helm chart, because it has no Chart.yaml; name the chart's folder or "
            "its .tgz file."
        )
    return crds_from_folder(chart / "crds")


def crds_from_url(url: str) -> list[Manifest]:
    """Download CRDs.

    Args:
        url: An ``https://`` or ``http://`` address of a YAML file with one or more CRDs, or of a packed Helm
            chart (``.tgz``), whose ``crds/`` folder is read.

    Returns:
        The CRDs in order of their names.

    Raises:
        ArgumentError: The address cannot be used or fetched within 60 seconds, or holds no CRD.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in {"https", "http"}:
        raise ArgumentError(f"CRDs can be fetched from https:// or http:// addresses, but {url!r} is neither.")
    try:
        with urllib.request.urlopen(url, timeout=_DOWNLOAD_TIMEOUT_SECONDS) as response:
            content: bytes = response.read()
    except (urllib.error.URLError, TimeoutError) as error:
        raise ArgumentError(
            f"The CRDs could not be fetched from {url}: {error}. Check the address and the network, or use a "
            f"folder or a chart on this machine."
        ) from error
    if parts.path.endswith((".tgz", ".tar.gz")):
        return _crds_in(_chart_archive(content, url), url)
    return _crds_in([(url, content)], url)


def checksum(crds: Sequence[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of the CRDs' canonical JSON: sorted by name, keys sorted, no white space, UTF-8."""
    ordered = sorted(crds, key=lambda crd: str(crd["metadata"]["name"]))
    text = json.dumps(ordered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _chart_archive(content: bytes, origin: str) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            for member in archive.getmembers():
                path = Path(member.name)
                in_crds = len(path.parts) == 3 and path.parts[1] == "crds" and path.suffix in _SUFFIXES
                file = archive.extractfile(member) if in_crds else None
                if file is not None:
                    yield f"{origin}/{member.name}", file.read()
    except tarfile.TarError as error:
        raise ArgumentError(f"{origin} is not a packed Helm chart: {error}.") from error


def _crds_in(files: Iterable[tuple[str, bytes]], origin: str) -> list[Manifest]:
    documents = [document for name, content in files for document in _documents(name, content)]
    crds = [_cleaned(document) for document in documents if _is_crd(document)]
    if not crds:
        raise ArgumentError(
            f"There is no CustomResourceDefinition in {origin}, where the CRDs of KubeRay were expected; "
            "point at config/crd/bases of the operator's module, at its Helm chart, or at an address of "
            "either."
        )
    return sorted(crds, key=lambda crd: str(crd["metadata"]["name"]))


def _is_crd(document: object) -> bool:
    return isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition"


def _cleaned(crd: Manifest) -> Manifest:
    metadata = {key: value for key, value in crd["metadata"].items() if key != "creationTimestamp"}
    return {key: value for key, value in crd.items() if key != "status"} | {"metadata": metadata}


def _documents(name: str, content: bytes) -> list[Any]:
    """Parse YAML once per content: a CRD of a megabyte takes a second, its cached JSON a hundredth of it."""
    cached = cache_folder("crds") / f"{hashlib.sha256(content).hexdigest()}.json"
    if not cached.is_file():
        try:
            text = json.dumps(list(yaml.load_all(content, Loader=Loader)), default=str)
        except yaml.YAMLError as error:
            raise ArgumentError(f"{name} is not valid YAML: {error}") from error
        write_atomically(cached, text)
    documents: list[Any] = json.loads(cached.read_text(encoding="utf-8"))
    return documents
