"""Everything that is to be checked, and what could not be read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kuberay_policies.reading.files import UnreadableError, decoded, found, read_text
from kuberay_policies.reading.objects import NoManifest, Unusable, objects
from kuberay_policies.reading.state import NoStateError, is_state, resources
from kuberay_policies.subjects import Subject

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class InputProblem:
    """Something that could not be checked.

    Attributes:
        file: The file or folder; `-` for standard input.
        line: Line, counted from 1; None if the whole file is at fault.
        message: What is wrong and what to do.
    """

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f':{self.line}'}: {self.message}"


@dataclass
class Inputs:
    """What was read.

    Attributes:
        subjects: The objects.
        problems: What could not be read.
        files: Files that were read.
        others: Files of folders that hold no Kubernetes objects, such as values of a chart.
        notes: What was read but cannot be looked into, such as a Helm Release of a state file.
        standard_input: Text of standard input; None if it was not read.
    """

    subjects: list[Subject] = field(default_factory=list)
    problems: list[InputProblem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    standard_input: str | None = None


def read(paths: Iterable[str], *, state: bool = False, excluded: Sequence[str] = ()) -> Inputs:
    """Read files, folders and standard input.

    Args:
        paths: Files, folders, or `-` for standard input.
        state: Whether every file is a state file of Pulumi; they are recognised without it, too.
        excluded: Patterns of files and folders that are left out of folders.
    """
    inputs = Inputs()
    for path in dict.fromkeys(paths):
        place = Path(path)
        if path != STANDARD_INPUT and place.is_dir():
            _read_folder(place, inputs, state, excluded)
        else:
            _read_file(path, inputs, state, named=True)
    return inputs


def _read_folder(folder: Path, inputs: Inputs, state: bool, excluded: Sequence[str]) -> None:
    before = len(inputs.subjects), len(inputs.problems)
    try:
        for file in found(folder, excluded):
            _read_file(str(file), inputs, state, named=False)
    except OSError as error:
        where = str(error.filename or folder)
        inputs.problems.append(InputProblem(where, None, f"The folder cannot be read: {error.strerror}."))
    if before == (len(inputs.subjects), len(inputs.problems)):
        message = "The folder has no manifests: no file in it with Kubernetes objects ends in .yaml, .yml or .json."
        inputs.problems.append(InputProblem(str(folder), None, message))


def _read_file(path: str, inputs: Inputs, state: bool, *, named: bool) -> None:
    try:
        text = _text(path, inputs)
        if state or is_state(text):
            subjects, notes = resources(text, path)
            inputs.notes += notes
        else:
            subjects = list(objects(text, path))
        inputs.subjects += subjects
        inputs.files.append(path)
        if named and not subjects:
            inputs.problems.append(InputProblem(path, None, "The file is empty: it holds no Kubernetes object."))
    except NoManifest as nothing:
        if named:
            inputs.problems.append(InputProblem(path, nothing.line, nothing.message))
        else:
            inputs.others.append(path)
    except Unusable as unusable:
        inputs.subjects += unusable.subjects
        inputs.problems += [InputProblem(path, line, message) for line, message in unusable.problems]
    except (UnreadableError, NoStateError) as error:
        inputs.problems.append(InputProblem(path, error.line, error.message))


def _text(path: str, inputs: Inputs) -> str:
    if path != STANDARD_INPUT:
        return read_text(Path(path))
    inputs.standard_input = decoded(sys.stdin.buffer.read())
    return inputs.standard_input
