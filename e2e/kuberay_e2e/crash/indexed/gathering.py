"""Makes one sweep and one report of what the pods have left in their logs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e.crash.indexed.packing import Part
from kuberay_e2e.crash.indexed.pods import PartPod
from kuberay_e2e.crash.indexed.unpacking import PackError, unpack, without_pack
from kuberay_e2e.crash.report import merge, read, write
from kuberay_e2e.crash.store import SweepFolder
from kuberay_e2e.errors import HarnessError

FAILED = 3
"""Exit code where a part failed, whatever the others found."""

_TAIL_LINES = 12
_ERROR = "kuberay-e2e: "
_LOGS = "parts"


@dataclass(frozen=True)
class Gathered:
    """What a part has left.

    Attributes:
        part: Which part, from 1.
        folder: The folder of its sweep; None where there is none.
        failure: Why it is not whole, a sentence; empty where it is.
        left_out: Which files of runs that did not hold its pod left out, a sentence.
        tail: The last lines that its pod wrote before its results.
        created: When its pod was made.
        unread: Its log could not be read, or not to its end.
    """

    part: int
    folder: Path | None = None
    failure: str = ""
    left_out: str = ""
    tail: tuple[str, ...] = ()
    created: str = ""
    unread: bool = False


def _tail(lines: Sequence[str]) -> tuple[str, ...]:
    """The last lines, and the sentence of an error before them: what programs logged may be longer."""
    earlier = [line for line in lines[:-_TAIL_LINES] if line.startswith(_ERROR)]
    return (*earlier[-1:], *lines[-_TAIL_LINES:])


def gathered(pod: PartPod, log: str, folder: Path, parts: int) -> Gathered:
    """Take the results of a part out of the log of a pod that has ended.

    Args:
        pod: The pod.
        log: Its log.
        folder: A folder that does not exist yet, for the sweep.
        parts: How many parts there are.
    """
    tail = _tail(without_pack(log))
    try:
        told = unpack(log, folder)
    except PackError as error:
        return Gathered(pod.part, None, f"{_ended(pod)} {error}", tail=tail, created=pod.created, unread=True)
    found = folder if SweepFolder(folder).is_sweep else None
    return Gathered(pod.part, found, _failure(pod, told, parts, found is not None), told.left_out, tail, pod.created)


def chosen(found: Sequence[Gathered], parts: int, end: str) -> list[Gathered]:
    """For each part what counts of it: a whole one, else the latest.

    Args:
        found: What pods have left, several of a part where the cluster took one away.
        parts: How many parts there are.
        end: How the Job ended.
    """
    result = []
    for part in range(1, parts + 1):
        own = [entry for entry in found if entry.part == part]
        missing = Gathered(part, failure=f"None of its pods has come to an end. The Job: {end}.")
        result.append(max(own, key=lambda entry: (not entry.failure, entry.created), default=missing))
    return result


def report(parts: Sequence[Gathered], target: Path) -> int:
    """Write the report of all parts, with the logs of those that failed below `parts/`.

    Args:
        parts: What each has left.
        target: A new or empty folder.

    Returns:
        The exit code: 3 where a part failed, else that of the report.

    Raises:
        HarnessError: No part has any results.
    """
    folders = [part.folder for part in parts if part.folder is not None]
    _tell(parts)
    if not folders:
        raise HarnessError(f"None of the {len(parts)} parts has results, so that there is nothing to report.")
    merge(folders, target)
    found = read(SweepFolder(target))
    print(f"Report: {write(found)}")
    failed = [part for part in parts if part.failure]
    for part in failed:
        log = target / _LOGS / f"part-{part.part}.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text("\n".join((part.failure, *part.tail)) + "\n")
    return FAILED if failed else found.exit_code


def _tell(parts: Sequence[Gathered]) -> None:
    for part in parts:
        if part.left_out:
            print(f"part {part.part}: {part.left_out}")
        if part.failure:
            print(f"part {part.part} failed: {part.failure}")
            print("".join(f"  | {line}\n" for line in part.tail), end="")


def _failure(pod: PartPod, told: Part, parts: int, results: bool) -> str:
    if (told.number, told.parts) != (pod.part, parts):
        return f"Its pod was to run part {pod.part} of {parts}, and ran part {told.number} of {told.parts}."
    if told.code not in (0, 1):
        return (
            f"{_ended(pod)} {'What it had come to until then is in the report.' if results else 'It came to nothing.'}"
        )
    return ""


def _ended(pod: PartPod) -> str:
    code = "" if pod.code is None else f" with exit code {pod.code}"
    killed = ", because it was killed, as it is for taking more memory than it may" if pod.code == 137 else ""
    return f"Its pod {pod.name} ended as {pod.phase}{code}{killed}."
