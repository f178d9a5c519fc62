"""Suspicions: what somebody thought might go wrong, and what the sweep says to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e.crash.report.runs import Run
from kuberay_e2e.crash.report.summary import Report
from kuberay_e2e.errors import InputError
from kuberay_e2e.verdicts import State

FILE = Path(__file__).parent / "suspicions.yaml"


@dataclass(frozen=True)
class Suspicion:
    """A suspicion that runs of a sweep settle.

    Attributes:
        id: Its name.
        suspicion: What might go wrong, a sentence.
        source: Where it comes from: the address of an issue, or a place in the source.
        runs: The runs that settle it, a pattern as deviations have it, such as `http/submit:RayJobs*@lost*`.
        deviation: The known deviation that confirms it; empty where none is known.
        elsewhere: What settles it where no run of a sweep can, a sentence.
    """

    id: str
    suspicion: str
    source: str
    runs: str = ""
    deviation: str = ""
    elsewhere: str = ""


def read(path: Path = FILE) -> list[Suspicion]:
    """Read a list of suspicions; a file that is not there has none.

    Raises:
        InputError: The file is not a list of suspicions; the message names the entry.
    """
    if not path.exists():
        return []
    try:
        entries = yaml.safe_load(path.read_text()) or []
    except yaml.YAMLError as error:
        raise InputError(f"Expected {path} to be YAML: {error}") from error
    if not isinstance(entries, list):
        raise InputError(f"Expected {path} to be a list of suspicions; it is a {type(entries).__name__}.")
    return [_suspicion(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, 1)]


def settled(suspicion: Suspicion, report: Report) -> str:
    """What a sweep says to a suspicion, a sentence."""
    if suspicion.elsewhere:
        return suspicion.elsewhere
    runs = [
        run
        for run in report.runs
        if fnmatchcase(str(run.result.point), suspicion.runs) and run.verdict.state is not State.ERROR
    ]
    if not runs:
        return "Not tested."
    if confirming := [run for run in runs if suspicion.deviation in run.verdict.deviation]:
        return f"So it is, in {len(confirming)} of {_runs(runs)}: {suspicion.deviation}."
    if violated := [run for run in runs if run.verdict.state is State.VIOLATED]:
        return f"Open: {len(violated)} of {_runs(runs)} broke a promise in a way that is not known."
    if deviating := [run for run in runs if run.verdict.deviation]:
        ids = sorted({name for run in deviating for name in run.verdict.deviation})
        return f"Not so, but {len(deviating)} of {_runs(runs)} deviate as known: {', '.join(ids)}."
    return f"Not so in {_runs(runs)}."


def _runs(runs: Sequence[Run]) -> str:
    return f"{len(runs)} run{'s' if len(runs) != 1 else ''}"


def _suspicion(entry: Any, where: str) -> Suspicion:
    known = {field.name for field in fields(Suspicion)}
    if not isinstance(entry, Mapping) or not all(isinstance(value, str) for value in entry.values()):
        raise InputError(f"Expected a mapping of texts at {where}; it is {entry!r}.")
    if unknown := sorted(set(entry) - known):
        raise InputError(f"Unknown field {unknown[0]!r} at {where}; there are {', '.join(sorted(known))}.")
    needed = {"id", "suspicion", "source", *(() if entry.get("elsewhere") else ("runs",))}
    if missing := sorted(needed - {name for name, value in entry.items() if value}):
        raise InputError(f"Expected the field {missing[0]!r} at {where} to have a value.")
    return Suspicion(**entry)
