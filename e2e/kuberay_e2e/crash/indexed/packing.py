"""Packs the results of a part for the log of its pod, from where the API server gives them to who may read logs.

A pack is lines of a log: a first one with what is to come, numbered ones of base64, and a last one. The kubelet begins
a new log file at 10 MiB by default, and the API gives the newest one only, so that a pack is kept well below that.
"""

import base64
import hashlib
import io
import json
import shutil
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kuberay_e2e.crash import authored, catalogue
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.crash.verdict import known_deviations, verdict
from kuberay_e2e.verdicts import State

PREFIX = "kuberay-e2e-pack"
PART_FILE = "part.json"
LIMIT = 6 * 1024 * 1024
"""Bytes that the lines of a pack may take."""

_LINE = 3000
"""Letters of base64 in a line: with all else of it less than what a pipe takes at once."""

_KEPT: Sequence[Collection[State]] = (
    (State.DEVIATES, State.VIOLATED, State.ERROR),
    (State.VIOLATED, State.ERROR),
    (State.ERROR,),
    (),
)
"""Of which runs the files are packed: fewer and fewer, until the pack is small enough."""


@dataclass(frozen=True)
class Part:
    """What a pod tells of its part.

    Attributes:
        number: Which part it is, from 1.
        parts: How many there are.
        code: Exit code of its sweep.
        left_out: Which files of runs that did not hold are not in the pack, a sentence; empty where all are.
    """

    number: int
    parts: int
    code: int
    left_out: str = ""


def pack(folder: Path, part: Part, limit: int = LIMIT) -> list[str]:
    """The lines of the pack of a sweep's folder: results, what was learned, and the files of runs that did not hold.

    Args:
        folder: The sweep's folder; it may have nothing in it.
        part: What else is told.
        limit: Bytes that the lines may take. Without any file of a run they may still take more.
    """
    lines: list[str] = []
    for kept in _KEPT:
        lines = framed(_archived(folder, replace(part, left_out=_left_out(kept)), kept))
        if sum(len(line) + 1 for line in lines) <= limit:
            break
    return lines


def framed(content: bytes) -> list[str]:
    """Bytes as the lines of a pack."""
    text = base64.b64encode(content).decode()
    pieces = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    digest = hashlib.sha256(content).hexdigest()
    return [
        f"{PREFIX} begin lines={len(pieces)} bytes={len(content)} sha256={digest}",
        *(f"{PREFIX} {number} {piece}" for number, piece in enumerate(pieces, 1)),
        f"{PREFIX} end",
    ]


def _left_out(kept: Collection[State]) -> str:
    """What is said of files that are left out beside those of runs that held."""
    if kept == _KEPT[0]:
        return ""
    if not kept:
        return "The pack has the files of no run, because they would be too many for the log of a pod."
    return f"The pack has the files of runs only that came out as {', '.join(kept)}."


def _archived(folder: Path, part: Part, kept: Collection[State]) -> bytes:
    with tempfile.TemporaryDirectory() as temporary:
        slim = SweepFolder(Path(temporary))
        source = SweepFolder(folder)
        for scenario in authored.kept(folder):
            catalogue.register(scenario)
            authored.keep(slim.path, scenario)
        for version in source.versions():
            slim.keep_learned(version, source.learned(version))
        for result, state in _judged(source.results()):
            files = folder / result.folder if result.folder and state in kept else None
            if files is not None and files.is_dir():
                shutil.copytree(files, slim.path / result.folder)
            slim.keep(result if files is not None else replace(result, folder=""))
        (slim.path / PART_FILE).write_text(json.dumps(asdict(part)))
        return _compressed(slim.path)


def _judged(results: Sequence[Result]) -> Iterator[tuple[Result, State]]:
    known = {result.version: known_deviations(result.version) for result in results}
    for result in results:
        yield result, verdict(result, known[result.version]).state


def _compressed(folder: Path) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz") as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                tar.add(path, str(path.relative_to(folder)), recursive=False)
    return content.getvalue()
