"""Takes the results of a part out of the log of its pod; what is there is not trusted."""

import base64
import binascii
import hashlib
import io
import json
import lzma
import re
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from kuberay_e2e.crash.indexed.packing import PART_FILE, PREFIX, Part

_BEGIN = re.compile(rf"{PREFIX} begin lines=(\d{{1,7}}) bytes=(\d{{1,10}}) sha256=([0-9a-f]{{64}})")
_ENTRIES = ("learned.json", "results.jsonl", PART_FILE, "runs", "scenarios")
"""What a pack may have at its top."""

_UNPACKED_LIMIT = 1024**3
"""Bytes that the files of a pack may take: thousands of runs take less."""

_CHUNK = 1024 * 1024


class PackError(Exception):
    """A log has no pack that can be used; the message is a sentence for the user."""


def unpack(log: str, folder: Path) -> Part:
    """Write the files of the pack in a log.

    Args:
        log: The whole log of a pod.
        folder: A folder that does not exist yet.

    Returns:
        What the pod told.

    Raises:
        PackError: There is no pack, or it is cut off, damaged, or has something in it that is none of ours; nothing is
            written then.
    """
    content = content_of(log.splitlines())
    try:
        folder.mkdir(parents=True)
        _extract(content, folder)
        return _part(folder / PART_FILE)
    except PackError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def content_of(lines: Sequence[str]) -> bytes:
    """The bytes of the pack in the lines of a log.

    Raises:
        PackError: There is none, or it is cut off or damaged.
    """
    own = [line for line in lines if line.startswith(f"{PREFIX} ")]
    begins = [number for number, line in enumerate(own) if _BEGIN.fullmatch(line)]
    if not begins:
        if own:
            raise PackError(
                "The beginning of its results is missing in its log. The kubelet may have begun a new log file "
                "meanwhile (containerLogMaxSize)."
            )
        raise PackError("Its log has no results.")
    first = _BEGIN.fullmatch(own[begins[-1]])
    assert first is not None
    count, size, digest = int(first[1]), int(first[2]), first[3]
    pieces = _pieces(own[begins[-1] + 1 :], count)
    try:
        content = base64.b64decode("".join(pieces), validate=True)
    except binascii.Error as error:
        raise PackError(f"The results in its log are damaged: {error}.") from error
    if len(content) != size or hashlib.sha256(content).hexdigest() != digest:
        raise PackError(
            f"The results in its log are damaged: expected {size} bytes of SHA-256 {digest}, got {len(content)} of "
            f"{hashlib.sha256(content).hexdigest()}."
        )
    return content


def without_pack(log: str) -> list[str]:
    """The lines of a log that are no part of a pack."""
    return [line for line in log.splitlines() if not line.startswith(f"{PREFIX} ")]


def _pieces(lines: Sequence[str], count: int) -> list[str]:
    pieces: list[str] = []
    for line in lines:
        number, _, piece = line.removeprefix(f"{PREFIX} ").partition(" ")
        if number == "end":
            break
        if number != str(len(pieces) + 1):
            raise PackError(f"The results in its log are damaged: line {len(pieces) + 1} of {count} is missing.")
        pieces.append(piece)
    else:
        raise PackError(f"The results in its log are cut off after line {len(pieces)} of {count}.")
    if len(pieces) != count:
        raise PackError(f"The results in its log are damaged: expected {count} lines, got {len(pieces)}.")
    return pieces


def _extract(content: bytes, folder: Path) -> None:
    room = _UNPACKED_LIMIT
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:xz") as tar:
            for member in tar:
                target = folder.joinpath(*_safe(member))
                room -= member.size
                if room < 0:
                    raise PackError(f"The results in its log would take more than {_UNPACKED_LIMIT // 2**20} MiB.")
                source = tar.extractfile(member)
                assert source is not None
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:
                    shutil.copyfileobj(source, file, _CHUNK)
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise PackError(f"The results in its log cannot be unpacked: {error!r}.") from error


def _safe(member: tarfile.TarInfo) -> tuple[str, ...]:
    """The parts of a file's path."""
    path = PurePosixPath(member.name)
    inside = not path.is_absolute() and ".." not in path.parts and "\0" not in member.name and "\\" not in member.name
    if not member.isfile() or not inside or not path.parts or path.parts[0] not in _ENTRIES:
        raise PackError(f"The results in its log have something that is no file of a sweep: {member.name!r}.")
    return path.parts


def _part(file: Path) -> Part:
    try:
        record = json.loads(file.read_text())
        return Part(int(record["number"]), int(record["parts"]), int(record["code"]), str(record["left_out"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PackError(f"The results in its log do not say which part they are of: {error!r}.") from error
